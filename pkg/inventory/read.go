// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Inventory is a published NodeInventory in one form, for both shapes of the object: this
// package's, and that of the first builds (pools[].key, entries[].address).
type Inventory struct {
	// Node is the node's name.
	Node string
	// Address is the host:port that claims are routed to.
	Address string
	// PublishedAt is when the node took the snapshot; zero if unknown.
	PublishedAt time.Time
	Entries     []Entry
	Pools       []Pool
	// Truncated is true if entries were left out to fit the object's size limit; a
	// sandbox missing from Entries may then still exist.
	Truncated bool
}

// Entry is one sandbox of a node.
type Entry struct {
	// Name is the claim_ref, or else the id.
	Name string
	// ID is sandboxd's claim id.
	ID    string
	Phase api.SandboxPhase
	// ClaimRef is the claim_ref; empty for a sandbox without one.
	ClaimRef string
	// Addr is the host:port that serves the sandbox; empty when it is not known.
	Addr     string
	Template string
	// ClaimedAt and Deadline are zero if unknown.
	ClaimedAt, Deadline time.Time
}

// Pool is the state of one warm pool.
type Pool struct {
	Key          sandboxd.Key
	Warm, Target int64
}

// Read returns the content of the object. It shares no memory with it.
func Read(object *api.NodeInventory) Inventory {
	out := Inventory{
		Node:        object.Node,
		Address:     object.Address,
		PublishedAt: timeOf(object.PublishedAt),
		Truncated:   object.TotalEntries != nil && *object.TotalEntries > int64(len(object.Entries)),
	}
	if out.Node == "" {
		out.Node = object.Name
	}
	for _, e := range object.Entries {
		out.Entries = append(out.Entries, readEntry(e))
	}
	for _, p := range object.Pools {
		out.Pools = append(out.Pools, readPool(p))
	}
	return out
}

func readEntry(e api.NodeEntry) Entry {
	out := Entry{
		Name: e.Name, ID: e.ID, Phase: e.Phase, ClaimRef: e.ClaimRef, Addr: e.Addr, Template: e.Template,
		ClaimedAt: timeOf(e.ClaimedAt), Deadline: timeOf(e.Deadline),
	}
	if out.ClaimRef == "" && e.Name != e.ID {
		out.ClaimRef = e.Name
	}
	if out.Addr == "" {
		out.Addr = e.Address
	}
	return out
}

func readPool(p api.NodePool) Pool {
	out := Pool{Key: sandboxd.Key{Template: p.Template, Net: p.Net, Size: p.Size}, Warm: p.Warm, Target: p.Target}
	if p.Key != nil && out.Key == (sandboxd.Key{}) {
		out.Key = sandboxd.Key{Template: p.Key.Template, Net: p.Key.Net, Size: p.Key.Size}
	}
	return out
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
