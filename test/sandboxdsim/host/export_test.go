// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

// FillDisk makes every write fail until the function that it returns is called.
func FillDisk(h *Host) (empty func()) {
	disk := h.store
	use := func(s store) {
		d := h.Daemon()
		d.mu.Lock()
		defer d.mu.Unlock()
		h.store = s
	}
	use(fullDisk{disk})
	return func() { use(disk) }
}

type fullDisk struct{ store }

var errFull = errors.New("no space left on device")

func (fullDisk) put(VM) error                 { return errFull }
func (fullDisk) putPools([]config.Pool) error { return errFull }
