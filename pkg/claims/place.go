// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Place is where a table belongs: the cluster whose Pods and owners decide over
// its claims, and the host that runs its sandboxes. The zero Place is that of a
// table that has recorded none: a new one, or one of an older build.
type Place struct {
	// Cluster is the UID of the cluster's kube-system namespace.
	Cluster types.UID `json:"cluster,omitempty"`
	// Host is the host's id, empty while it is not known.
	Host string `json:"host,omitempty"`
}

// UnreadableCluster is the cluster of a table whose recorded place cannot be read.
// It equals no cluster's UID, so such a table counts as one of another cluster
// instead of one without a place, which any cluster could take over.
const UnreadableCluster types.UID = "unreadable"

// Place returns the place that the table has recorded.
func (t *Table) Place() Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.place
}

// SetPlace records where the table belongs. It returns nil once that is durable.
// On error the table keeps the place that it had, so that nobody acts on one that
// a restart would not find; call it again once the disk works.
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
