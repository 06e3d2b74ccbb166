// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Place is the cluster whose Pods and owners decide about a table's claims, and the host
// that runs its sandboxes. A table without a recorded place, because it is new or from an
// older build, has the zero Place.
type Place struct {
	// Cluster is the UID of the cluster's kube-system namespace.
	Cluster types.UID `json:"cluster,omitempty"`
	// Host is the host's id; empty if it is not known.
	Host string `json:"host,omitempty"`
}

// UnreadableCluster is the cluster of a table whose recorded place cannot be read. It
// equals no cluster's UID, so such a table counts as another cluster's table, not as one
// without a place that any cluster could take.
const UnreadableCluster types.UID = "unreadable"

// Place returns the place that the table has recorded.
func (t *Table) Place() Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place
}

// SetPlace records where the table belongs. It returns nil once that is durable. On error
// the table keeps its old place, because a restart would find that one; call SetPlace
// again once the disk works.
func (t *Table) SetPlace(p Place) error {
	if p == (Place{}) {
		return errors.New("record the table's place: neither the cluster nor the host is given")
	}
	var before Place
	err := t.change(func() error {
		before, t.place = t.place, p
		return nil
	})
	if err == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.place == p {
		t.place = before
	}
	return fmt.Errorf("record the table's place: %w", err)
}
