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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned/fake"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	nodeName = "host-1-sandboxd"
	interval = 30 * time.Second
	template = "ghcr.io/cocoonstack/sandbox/rt:24.04"

	firstUID  types.UID = "6f1c1a52-0000-4000-8000-000000000001"
	secondUID types.UID = "6f1c1a52-0000-4000-8000-000000000002"
)

// errNoNode says that the Node is not there.
var errNoNode = apierrors.NewNotFound(corev1.Resource("nodes"), nodeName)

// fakeSandboxd answers what it is told. With hang set it answers nothing until
// the caller gives up.
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
	sandboxd *fakeSandboxd
	claims   fakeClaims
	client   *fake.Clientset
	config   Config

	mu       sync.Mutex // guards the fields below
	nodeUID  types.UID
	nodeErr  error       // what the Node is looked up with
	applied  []time.Time // when each apply arrived
	applyErr error       // what applies are answered with
	discard  bool        // applies succeed and are not stored
}

func newHarness() *harness {
	h := &harness{
		sandboxd: &fakeSandboxd{rows: []sandboxd.Sandbox{{ID: "sb_a", ClaimRef: "default/demo"}}},
		claims:   fakeClaims{},
		nodeUID:  firstUID,
		client:   fake.NewClientset(),
	}
	h.client.PrependReactor("patch", "nodeinventories", func(clienttesting.Action) (bool, runtime.Object, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.applied = append(h.applied, time.Now())
		return h.applyErr != nil || h.discard, &api.NodeInventory{}, h.applyErr
	})
	h.config = Config{
		NodeName: nodeName, Interval: interval, AdvertiseAddr: "10.0.0.5:7777",
		Sandboxd: h.sandboxd, Claims: h.claims,
		Client: h.client.SandboxV1beta1().NodeInventories(),
		Node: func() (*corev1.Node, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: h.nodeUID}}, h.nodeErr
		},
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
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	p := h.publisher(t)
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil at the end of its context", err)
		}
	})
	synctest.Wait()
	return logger.GetSink().(ktesting.Underlier).GetBuffer()
}

// pass lets time go by, and then the publisher finish what it is doing.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// cycles lets n intervals go by, the longest that jitter makes of them.
func cycles(n int) { pass(time.Duration(n) * interval * 11 / 10) }

func (h *harness) stored(t *testing.T) *api.NodeInventory {
	t.Helper()
	inventory, err := h.config.Client.(interface {
		Get(context.Context, string, metav1.GetOptions) (*api.NodeInventory, error)
	}).Get(t.Context(), nodeName, metav1.GetOptions{})
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
func (h *harness) change(f func()) {
	for _, mu := range []*sync.Mutex{&h.sandboxd.mu, &h.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	f()
}

// applies are the times at which applies arrived so far.
func (h *harness) applies() []time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.applied)
}
