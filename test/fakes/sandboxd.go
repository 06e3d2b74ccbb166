// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakes has in-memory fakes of everything that a provider talks to.
package fakes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// DefaultLease is the lease of a sandbox.
const DefaultLease = 24 * time.Hour

// Sandboxd is a fake sandboxd. Its sandboxes end with their leases. While it is in use,
// change the exported fields only through [Sandboxd.Set].
type Sandboxd struct {
	mu        sync.Mutex
	Sandboxes map[string]sandboxd.Sandbox
	Tokens    map[string]sandboxd.Token
	// Rebuilding makes the index and the single reads lack every sandbox.
	Rebuilding bool
	// Lease of the next sandboxes.
	Lease time.Duration
	// Next changes the claims that are delivered.
	Next func(*sandboxd.Claim)
	// ClaimErr, ListErr and InfoErr fail the calls, GetErr and ReleaseErr those about
	// one id.
	ClaimErr, ListErr, InfoErr error
	GetErr, ReleaseErr         map[string]error
	// Hang delays the releases of an id, and the claims of a claim_ref, until the
	// channel is closed.
	Hang map[string]chan struct{}

	Claims                 []string // the claim_refs that were asked for
	Released, ReleasedByID []string // the ids that were destroyed, and those by the node API token
}

// NewSandboxd returns a Sandboxd without sandboxes.
func NewSandboxd() *Sandboxd {
	return &Sandboxd{
		Sandboxes: map[string]sandboxd.Sandbox{}, Tokens: map[string]sandboxd.Token{}, Lease: DefaultLease,
		GetErr: map[string]error{}, ReleaseErr: map[string]error{}, Hang: map[string]chan struct{}{},
	}
}

// Set changes the fields while the fake is in use.
func (n *Sandboxd) Set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// Claim creates a sandbox, or fails with ClaimErr.
func (n *Sandboxd) Claim(_ context.Context, r sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.Claims = append(n.Claims, r.ClaimRef)
	n.await(r.ClaimRef)
	if n.ClaimErr != nil {
		return sandboxd.Claim{}, n.ClaimErr
	}
	c := sandboxd.Claim{ID: fmt.Sprintf("sb_%d", len(n.Claims)), OwnerAddr: "10.0.0.5:7777", Deadline: time.Now().Add(n.Lease)}
	c.Token = sandboxd.NewToken(fmt.Sprintf("token-%d", len(n.Claims)))
	if n.Next != nil {
		n.Next(&c)
	}
	n.Sandboxes[c.ID] = sandboxd.Sandbox{ID: c.ID, Deadline: c.Deadline, ClaimRef: r.ClaimRef}
	if n.Tokens[c.ID].Empty() {
		n.Tokens[c.ID] = c.Token
	}
	return c, nil
}

// await blocks while calls of this name hang. The caller holds mu.
func (n *Sandboxd) await(name string) {
	if hang := n.Hang[name]; hang != nil {
		n.mu.Unlock()
		<-hang
		n.mu.Lock()
	}
}

// Release destroys a sandbox, given its token.
func (n *Sandboxd) Release(_ context.Context, id string, token sandboxd.Token) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.await(id)
	if err := n.ReleaseErr[id]; err != nil {
		return err
	}
	if _, alive := n.alive(id); !alive || n.Tokens[id] != token {
		return NotFound("release")
	}
	n.destroy(id)
	return nil
}

// ReleaseByID destroys a sandbox with the node API token.
func (n *Sandboxd) ReleaseByID(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, alive := n.alive(id); !alive {
		return NotFound("release by id")
	}
	n.ReleasedByID = append(n.ReleasedByID, id)
	n.destroy(id)
	return nil
}

func (n *Sandboxd) destroy(id string) {
	delete(n.Sandboxes, id)
	n.Released = append(n.Released, id)
}

// List returns the running sandboxes, or fails with ListErr.
func (n *Sandboxd) List(context.Context) (out []sandboxd.Sandbox, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ListErr != nil {
		return nil, n.ListErr
	}
	for id := range n.Sandboxes {
		if s, alive := n.alive(id); alive && !n.Rebuilding {
			out = append(out, s)
		}
	}
	return out, nil
}

// Get returns a running sandbox.
func (n *Sandboxd) Get(_ context.Context, id string) (sandboxd.Sandbox, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.GetErr[id]; err != nil {
		return sandboxd.Sandbox{}, err
	}
	if s, alive := n.alive(id); alive && !n.Rebuilding {
		return s, nil
	}
	return sandboxd.Sandbox{}, NotFound("get")
}

// Info fails with InfoErr.
func (n *Sandboxd) Info(context.Context) (sandboxd.Info, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return sandboxd.Info{}, n.InfoErr
}

// alive returns a sandbox whose lease has not ended. The caller holds mu.
func (n *Sandboxd) alive(id string) (sandboxd.Sandbox, bool) {
	s, known := n.Sandboxes[id]
	return s, known && (s.Deadline.IsZero() || time.Now().Before(s.Deadline))
}

// Lose ends sandboxes without a release, as a crash of the VM does.
func (n *Sandboxd) Lose(ids ...string) {
	n.Set(func() {
		for _, id := range ids {
			delete(n.Sandboxes, id)
		}
	})
}

// ClaimCount returns the number of claim requests.
func (n *Sandboxd) ClaimCount() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.Claims)
}

// Destroyed returns the ids of the released sandboxes, in order.
func (n *Sandboxd) Destroyed() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.Released)
}

// NotFound returns the error for an unknown id.
func NotFound(op string) error {
	return &sandboxd.Error{Op: op, Class: sandboxd.NotFound, Status: 404}
}

// Failing returns an internal error of sandboxd.
func Failing(op string) error {
	return &sandboxd.Error{Op: op, Class: sandboxd.Unavailable, Status: 500}
}

// NoCapacity returns the error of a claim on a full node.
func NoCapacity() error {
	return &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429}
}

// Unreachable returns the error of a sandboxd that does not answer.
func Unreachable() error { return &sandboxd.Error{Op: "list", Class: sandboxd.Unreachable} }
