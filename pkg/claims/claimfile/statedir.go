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

// Suffixes of the files beside a table: the report of a daemon that may not use the
// table, and an operator's approval, which ends with its kind.
const (
	PlaceFileSuffix    = ".place"
	ApprovalFileSuffix = ".approval-"
)

// restrictDirectory removes group and world access from the state directory, but only if
// it contains nothing except the table's own files: the directory may be shared.
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

// ownFiles returns the names of this program's files in the directory of a table: the
// table itself, and the files that a daemon and an operator leave beside it.
func ownFiles(table string) []string {
	names := []string{table + ".lock"}
	for _, suffix := range []string{"", PlaceFileSuffix, ApprovalFileSuffix + "place", ApprovalFileSuffix + "missing-owners"} {
		names = append(names, table+suffix, table+suffix+".tmp")
	}
	return names
}
