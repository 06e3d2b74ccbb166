// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"errors"
	"fmt"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// MaxBytes is the size of the largest NodeInventory this package applies, as
// JSON. etcd takes 1.5 MiB by default. Others may add 256 KiB of annotations to
// the object, and the record of field owners, which does not grow with the
// entries, comes on top.
const MaxBytes = 1200 << 10

// document is the applied inventory. Its lists are written even if they are empty: a list
// left out of an apply would stay as someone else wrote it.
type document struct {
	*v1beta1.NodeInventoryApplyConfiguration
	Pools   []*v1beta1.NodePoolApplyConfiguration  `json:"pools"`
	Entries []*v1beta1.NodeEntryApplyConfiguration `json:"entries"`
}

// newDocument returns the inventory with all pools and as many of the first entries as
// fit into limit bytes.
func newDocument(inventory *v1beta1.NodeInventoryApplyConfiguration, s Snapshot, limit int) (document, error) {
	d := document{
		NodeInventoryApplyConfiguration: inventory,
		Pools:                           s.Pools,
		Entries:                         []*v1beta1.NodeEntryApplyConfiguration{},
	}
	n, err := publish.Fit(d, s.Entries, limit)
	switch {
	case errors.Is(err, publish.ErrTooLarge):
		return document{}, fmt.Errorf("%w: give sandboxd fewer pools", err)
	case err != nil:
		return document{}, fmt.Errorf("fit the entries: %w", err)
	}
	if n > 0 {
		d.Entries = s.Entries[:n]
	}
	return d, nil
}
