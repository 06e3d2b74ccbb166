// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/keymutex"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// fixture is a queue and an owner check over a real table and index. Its claims are those
// of the Pods a, b, ..., whose owners are A, B, ...
type fixture struct {
	t      *testing.T
	fs     *faultfs.FS
	node   *fakes.Sandboxd
	owners *fakes.Owners
	table  *claims.Table
	queue  *Queue
	check  *OwnerCheck
	keymutex.KeyMutex
	// hasPod has the claims that a Pod holds, by sandbox id.
	hasPod   map[string]bool
	lists    uint64
	released []string // the keys of the claims whose release was recorded
	// announced has the keys of the claims whose grace was announced.
	announced []string
	grace     time.Duration
}

func (f *fixture) HasNoPod(c claims.Claim) bool      { return !f.hasPod[c.ID] }
func (f *fixture) Released(c claims.Claim, _ string) { f.released = append(f.released, c.Key) }
func (f *fixture) Unadoptable(c claims.Claim, _ time.Duration) {
	f.announced = append(f.announced, c.Key)
}
func (f *fixture) PodLists() uint64                      { return f.lists }
func (f *fixture) read(name string) (claims.Claim, bool) { return f.table.Get(keyOf(name)) }

func keyOf(name string) string { return fakes.Namespace + "/" + name }

func inFixture(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, fs: faultfs.New(), node: fakes.NewSandboxd(), owners: &fakes.Owners{}, hasPod: map[string]bool{}}
		f.open()
		test(t, f)
	})
}

// open loads the table, as a start does.
func (f *fixture) open() {
	f.t.Helper()
	f.table = fakes.OpenTable(f.t, f.fs)
	index := sandboxes.NewIndex(f.node, f.table, func(claims.Claim) bool { return false })
	f.queue = NewQueue(Config{Table: f.table, Client: f.node, Index: index, ReleaseByID: f.node.ReleaseByID, Jitter: 0.1})
	f.check = NewOwnerCheck(OwnerCheckConfig{Table: f.table, Queue: f.queue, Owners: f.owners, Pods: f, Events: f, PodLists: f.PodLists, Grace: f.grace})
}

// claim is a new claim of the Pod, whose owner lives.
func (f *fixture) claim(name string, owner types.UID) claims.Claim {
	f.t.Helper()
	holder := claims.Holder{PodUID: types.UID("P-" + name)}
	if owner != "" {
		f.owners.Set(ownership.Alive, owner)
		holder.Controller = &claims.Owner{Kind: "Sandbox", UID: owner}
	}
	return f.claimFor(name, holder)
}

// claimFor is a new claim of the Pod.
func (f *fixture) claimFor(name string, holder claims.Holder) claims.Claim {
	f.t.Helper()
	got, err := f.node.Claim(f.t.Context(), sandboxd.ClaimRequest{ClaimRef: keyOf(name)})
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.table.Add(keyOf(name), claims.NewRow(got, holder, time.Now()), nil); err != nil {
		f.t.Fatal(err)
	}
	c, _ := f.read(name)
	return c
}

// preserve is the deletion of the claim's Pod while its owner lives.
func (f *fixture) preserve(c claims.Claim, seen bool) {
	f.t.Helper()
	var deleted time.Time
	if seen {
		deleted = time.Now()
	}
	if err := f.table.Preserve(c.Key, c.ID, c.Controller, deleted); err != nil {
		f.t.Fatal(err)
	}
	f.check.Preserved(f.t.Context(), c, f.check.ReadVerdict(f.t.Context(), c, c.Controller), seen)
}

// run runs the queue until the returned function is called.
func (f *fixture) run() (stop func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	done := make(chan struct{})
	go func() { f.queue.Run(ctx); close(done) }()
	return func() { cancel(); <-done }
}

// passes checks owners for a span of time.
func (f *fixture) passes(span time.Duration) {
	const every = 5 * time.Second
	for ; span >= 0; span -= every {
		f.check.Pass(f.t.Context())
		time.Sleep(every)
	}
}

var errDisk = errors.New("no space left")
