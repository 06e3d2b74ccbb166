// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/klog/v2"
)

// The suffixes of the files beside a table: what a daemon that is not allowed to
// use the table has found, and an operator's approval, which ends with its kind.
const (
	PlaceFileSuffix    = ".place"
	ApprovalFileSuffix = ".approval-"
)

// restrictDirectory takes group and world off the state directory, but only where it
// holds nothing except the table's own files: the table may lie in a
// directory that others use.
func restrictDirectory(ctx context.Context, path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("read the state directory: %w", err)
	}
	if info.Mode().Perm()&^dirMode == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("read the state directory: %w", err)
	}
	for _, e := range entries {
		if !slices.Contains(ownFiles(filepath.Base(path)), e.Name()) {
			klog.FromContext(ctx).Info("the state directory is shared and open to other users; give the claims table a directory of its own", "directory", dir, "mode", info.Mode().String())
			return nil
		}
	}
	if err := os.Chmod(dir, dirMode); err != nil {
		return fmt.Errorf("take other users' access off the state directory: %w", err)
	}
	return nil
}

// ownFiles are the names of the files that this program keeps in the directory of
// a table: the table itself, and what a daemon and an operator leave beside it.
func ownFiles(table string) []string {
	names := []string{table + ".lock"}
	for _, suffix := range []string{"", PlaceFileSuffix, ApprovalFileSuffix + "place", ApprovalFileSuffix + "missing-owners"} {
		names = append(names, table+suffix, table+suffix+".tmp")
	}
	return names
}
