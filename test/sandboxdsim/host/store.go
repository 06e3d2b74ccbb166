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

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

// store keeps VMs and the set of pools where a restart of the daemon finds them. One put or drop is atomic.
type store interface {
	put(VM) error
	drop(id string) error
	load() ([]VM, error)
	putPools([]config.Pool) error
	// loadPools returns nil if no set was ever kept.
	loadPools() ([]config.Pool, error)
	close() error
}

// memStore is the disk of a node without a state directory.
type memStore struct {
	mu    sync.Mutex
	vms   map[string]VM
	pools []config.Pool
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

func (m *memStore) putPools(set []config.Pool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools = set
	return nil
}

func (m *memStore) loadPools() ([]config.Pool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pools, nil
}

func (m *memStore) close() error { return nil }

// dirStore keeps one JSON file for each VM, so that a claim costs the same however many there are, and one for the pools.
// A file is renamed into place, never synced: VMs outlive their daemon, but not their host.
type dirStore struct {
	// vms is the directory of the VMs' files.
	vms   string
	pools string
	lock  *os.File
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
	return &dirStore{vms: vms, pools: filepath.Join(dir, "pools.json"), lock: lock}, nil
}

func (d *dirStore) put(v VM) error {
	if err := replaceFile(filepath.Join(d.vms, v.ID+vmSuffix), v); err != nil {
		return fmt.Errorf("keep VM %s: %w", v.ID, err)
	}
	return nil
}

// replaceFile writes a value as JSON, so that a reader finds all of it or what was there before.
func replaceFile(path string, value any) error {
	b, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", b, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

func (d *dirStore) drop(id string) error {
	if err := os.Remove(filepath.Join(d.vms, id+vmSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("drop VM %s: %w", id, err)
	}
	return nil
}

func (d *dirStore) load() ([]VM, error) {
	entries, err := os.ReadDir(d.vms)
	if err != nil {
		return nil, fmt.Errorf("read the state directory: %w", err)
	}
	var vms []VM
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), vmSuffix) {
			continue // a write that a crash cut short
		}
		path := filepath.Join(d.vms, e.Name())
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

func (d *dirStore) putPools(set []config.Pool) error {
	if err := replaceFile(d.pools, set); err != nil {
		return fmt.Errorf("keep the pools: %w", err)
	}
	return nil
}

func (d *dirStore) loadPools() (set []config.Pool, err error) {
	b, err := os.ReadFile(d.pools)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the pools: %w", err)
	}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, fmt.Errorf("file %s is damaged; remove it to go back to the configured pools: %w", d.pools, err)
	}
	return set, nil
}

func (d *dirStore) close() error { return d.lock.Close() }
