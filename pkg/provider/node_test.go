// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// defaultLease is the lease of a sandbox of fakeNode.
const defaultLease = 24 * time.Hour

// fakeNode is a sandboxd in memory. Its sandboxes end with their leases.
type fakeNode struct {
	mu        sync.Mutex
	sandboxes map[string]sandboxd.Sandbox
	tokens    map[string]sandboxd.Token
	// rebuilding makes the index and the single reads lack every sandbox.
	rebuilding bool
	// lease of the next sandboxes.
	lease time.Duration
	// next changes the claims that are delivered.
	next func(*sandboxd.Claim)
	// claimErr and listErr fail the calls, getErr and releaseErr those about one id.
	claimErr, listErr  error
	getErr, releaseErr map[string]error
	// hang holds up the releases of an id, and the claims of a claim_ref, until the
	// channel is closed.
	hang map[string]chan struct{}

	claims             []string // the claim_refs that were asked for
	released, rootOnly []string // the ids that were destroyed, and those by the node API token
}

func newFakeNode() *fakeNode {
	return &fakeNode{
		sandboxes: map[string]sandboxd.Sandbox{}, tokens: map[string]sandboxd.Token{}, lease: defaultLease,
		getErr: map[string]error{}, releaseErr: map[string]error{}, hang: map[string]chan struct{}{},
	}
}

// set changes the node's behaviour.
func (n *fakeNode) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

func (n *fakeNode) Claim(_ context.Context, r sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.claims = append(n.claims, r.ClaimRef)
	n.await(r.ClaimRef)
	if n.claimErr != nil {
		return sandboxd.Claim{}, n.claimErr
	}
	c := sandboxd.Claim{ID: fmt.Sprintf("sb_%d", len(n.claims)), OwnerAddr: "10.0.0.5:7777", Deadline: time.Now().Add(n.lease)}
	c.Token = sandboxd.NewToken(fmt.Sprintf("token-%d", len(n.claims)))
	if n.next != nil {
		n.next(&c)
	}
	n.sandboxes[c.ID] = sandboxd.Sandbox{ID: c.ID, Deadline: c.Deadline, ClaimRef: r.ClaimRef}
	if n.tokens[c.ID].Empty() {
		n.tokens[c.ID] = c.Token
	}
	return c, nil
}

// await waits where the name's calls hang. The caller holds mu.
func (n *fakeNode) await(name string) {
	if hang := n.hang[name]; hang != nil {
		n.mu.Unlock()
		<-hang
		n.mu.Lock()
	}
}

func (n *fakeNode) Release(_ context.Context, id string, token sandboxd.Token) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.await(id)
	if err := n.releaseErr[id]; err != nil {
		return err
	}
	if _, alive := n.alive(id); !alive || n.tokens[id] != token {
		return notFound("release")
	}
	n.destroy(id)
	return nil
}

// releaseByID is the release with the node API token.
func (n *fakeNode) releaseByID(_ context.Context, id string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, alive := n.alive(id); !alive {
		return notFound("release by id")
	}
	n.rootOnly = append(n.rootOnly, id)
	n.destroy(id)
	return nil
}

func (n *fakeNode) destroy(id string) {
	delete(n.sandboxes, id)
	n.released = append(n.released, id)
}

func (n *fakeNode) List(context.Context) (out []sandboxd.Sandbox, _ error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listErr != nil {
		return nil, n.listErr
	}
	for id := range n.sandboxes {
		if s, alive := n.alive(id); alive && !n.rebuilding {
			out = append(out, s)
		}
	}
	return out, nil
}

func (n *fakeNode) Get(_ context.Context, id string) (sandboxd.Sandbox, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.getErr[id]; err != nil {
		return sandboxd.Sandbox{}, err
	}
	if s, alive := n.alive(id); alive && !n.rebuilding {
		return s, nil
	}
	return sandboxd.Sandbox{}, notFound("get")
}

func (n *fakeNode) Info(context.Context) (sandboxd.Info, error) { return sandboxd.Info{}, nil }

// alive returns a sandbox whose lease has not ended. The caller holds mu.
func (n *fakeNode) alive(id string) (sandboxd.Sandbox, bool) {
	s, known := n.sandboxes[id]
	return s, known && (s.Deadline.IsZero() || time.Now().Before(s.Deadline))
}

// lose ends sandboxes without a release, as a crash of the VM does.
func (n *fakeNode) lose(ids ...string) {
	n.set(func() {
		for _, id := range ids {
			delete(n.sandboxes, id)
		}
	})
}

// posts is how many claims were asked for.
func (n *fakeNode) posts() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.claims)
}

// gone is the ids that were destroyed by releases, in order.
func (n *fakeNode) gone() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.released)
}

func notFound(op string) error {
	return &sandboxd.Error{Op: op, Class: sandboxd.NotFound, Status: 404}
}

func failing(op string) error {
	return &sandboxd.Error{Op: op, Class: sandboxd.Unavailable, Status: 500}
}

func noCapacity() error {
	return &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429}
}

func unreachable() error { return &sandboxd.Error{Op: "list", Class: sandboxd.Unreachable} }
