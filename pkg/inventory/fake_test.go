// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

const (
	interval = 30 * time.Second
	template = "ghcr.io/cocoonstack/sandbox/rt:24.04"
)

// fakeSandboxd gives the configured answers. With hang set it answers nothing until the
// caller gives up.
type fakeSandboxd struct {
	mu               sync.Mutex
	rows             []sandboxd.Sandbox
	info             sandboxd.Info
	listErr, infoErr error
	hang             bool
}

func (f *fakeSandboxd) List(ctx context.Context) ([]sandboxd.Sandbox, error) {
	f.mu.Lock()
	hang, rows, err := f.hang, f.rows, f.listErr
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return rows, err
}

func (f *fakeSandboxd) Info(context.Context) (sandboxd.Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.info, f.infoErr
}

// fakeClaims are the held claims, by id.
type fakeClaims map[string]Held

func (f fakeClaims) Held() []Held { return slices.Collect(maps.Values(f)) }

// serves returns a claim that is known by its id and address alone.
func serves(id, address string) Held { return Held{ID: id, Address: address} }

// harness is a publisher among fakes. Once it runs, what they answer is changed
// through change and read between two cycles.
type harness struct {
	*fakeapi.Server
	sandboxd *fakeSandboxd
	claims   fakeClaims
	config   Config
}

func newHarness() *harness {
	h := &harness{
		Server:   fakeapi.New(api.SchemeGroupVersion.WithResource("nodeinventories"), ""),
		sandboxd: &fakeSandboxd{rows: []sandboxd.Sandbox{{ID: "sb_a", ClaimRef: "default/demo"}}},
		claims:   fakeClaims{},
	}
	h.config = Config{
		Config:        publish.Config{NodeName: fakeapi.NodeName, Interval: interval, Node: h.Node},
		AdvertiseAddr: "10.0.0.5:7777",
		Sandboxd:      h.sandboxd, Claims: h.claims,
		Client: h.Client.SandboxV1beta1().NodeInventories(),
	}
	return h
}

func (h *harness) publisher(t *testing.T) *Publisher {
	t.Helper()
	p, err := NewPublisher(h.config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// start runs a publisher to the end of the test and returns what it logs.
func (h *harness) start(t *testing.T) ktesting.Buffer {
	t.Helper()
	logs, stop := fakeapi.Run(t, h.publisher(t).Run)
	t.Cleanup(stop)
	synctest.Wait()
	return logs
}

// cycles lets n intervals go by, the longest that jitter makes of them.
func cycles(n int) { fakeapi.Pass(time.Duration(n) * interval * 11 / 10) }

func (h *harness) stored(t *testing.T) *api.NodeInventory {
	t.Helper()
	inventory, err := h.Client.SandboxV1beta1().NodeInventories().Get(t.Context(), fakeapi.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return inventory
}

func names(inventory *api.NodeInventory) []string {
	var out []string
	for _, e := range inventory.Entries {
		out = append(out, e.Name)
	}
	return out
}

// change changes what the fakes answer.
func (h *harness) change(f func()) { h.Change(f, &h.sandboxd.mu) }

// edit changes the stored object as somebody else.
func (h *harness) edit(t *testing.T, edit func(*api.NodeInventory)) {
	t.Helper()
	object := h.stored(t)
	edit(object)
	if _, err := h.Client.SandboxV1beta1().NodeInventories().Update(t.Context(), object, metav1.UpdateOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
}
