// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimfile

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// ReplaceFile writes data to path with mode 0600, so that after a crash the file is
// either the old one or the new one, whole: temporary file, fsync, rename, directory
// fsync. The temporary file has a fixed name, so that failures leave at most one.
func ReplaceFile(fsys FS, path string, data []byte) (err error) {
	tmp := path + ".tmp"
	f, err := fsys.Create(tmp)
	if err != nil {
		return fmt.Errorf("create %s: %w", tmp, err)
	}
	defer func() {
		if err != nil && !errors.Is(err, claims.ErrUnsynced) {
			err = errors.Join(err, fsys.Remove(tmp))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", tmp, err), f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", tmp, err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("close %s: %w", tmp, err)
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return fmt.Errorf("rename %s to %s: %w", tmp, path, err)
	}
	if err := fsys.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync the directory of %s: %w: %w", path, claims.ErrUnsynced, err)
	}
	return nil
}
