// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import "errors"

// FillDisk makes every write fail until the function that it returns is called.
func FillDisk(h *Host) (empty func()) {
	disk := h.store
	h.store = fullDisk{disk}
	return func() { h.store = disk }
}

type fullDisk struct{ store }

func (fullDisk) put(VM) error { return errors.New("no space left on device") }
