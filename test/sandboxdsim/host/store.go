// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// store keeps VMs where a restart of the daemon finds them. One put or drop is atomic.
type store interface {
	put(VM) error
	drop(id string) error
	load() ([]VM, error)
	close() error
}

// memStore is the disk of a node without a state directory.
type memStore struct {
	mu  sync.Mutex
	vms map[string]VM
}

func openStore(dir string) (store, error) {
	if dir == "" {
		return newMemStore(), nil
	}
	return openDirStore(dir)
}

func newMemStore() *memStore { return &memStore{vms: map[string]VM{}} }

func (m *memStore) put(v VM) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.vms[v.ID] = v
	return nil
}

func (m *memStore) drop(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.vms, id)
	return nil
}

func (m *memStore) load() ([]VM, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.vms)), nil
}

func (m *memStore) close() error { return nil }

// dirStore keeps one JSON file for each VM, so that a claim costs the same however many there are.
// A file is renamed into place, never synced: VMs outlive their daemon, but not their host.
type dirStore struct {
	dir  string
	lock *os.File
}

const vmSuffix = ".json"

func openDirStore(dir string) (*dirStore, error) {
	vms := filepath.Join(dir, "vms")
	if err := os.MkdirAll(vms, 0o700); err != nil {
		return nil, fmt.Errorf("create the state directory: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the state directory: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("state directory %s is in use by another simulator: %w", dir, err), lock.Close())
	}
	return &dirStore{dir: vms, lock: lock}, nil
}

func (d *dirStore) put(v VM) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode VM %s: %w", v.ID, err)
	}
	path := filepath.Join(d.dir, v.ID+vmSuffix)
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return fmt.Errorf("write VM %s: %w", v.ID, err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("keep VM %s: %w", v.ID, err)
	}
	return nil
}

func (d *dirStore) drop(id string) error {
	if err := os.Remove(filepath.Join(d.dir, id+vmSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop VM %s: %w", id, err)
	}
	return nil
}

func (d *dirStore) load() ([]VM, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return nil, fmt.Errorf("read the state directory: %w", err)
	}
	var vms []VM
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), vmSuffix) {
			continue // a write that a crash cut short
		}
		path := filepath.Join(d.dir, e.Name())
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read a VM: %w", err)
		}
		var v VM
		if err := json.Unmarshal(b, &v); err != nil {
			return nil, fmt.Errorf("VM file %s is damaged; remove it to go on without that VM: %w", path, err)
		}
		vms = append(vms, v)
	}
	return vms, nil
}

func (d *dirStore) close() error { return d.lock.Close() }
