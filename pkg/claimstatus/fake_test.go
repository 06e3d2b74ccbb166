// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned/fake"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

const (
	nodeName = "host-1-sandboxd"
	interval = 10 * time.Second
	canary   = "CANARY-7f3a91"

	firstUID  types.UID = "6f1c1a52-0000-4000-8000-000000000001"
	secondUID types.UID = "6f1c1a52-0000-4000-8000-000000000002"
)

// errNoNode says that the Node is not there.
var errNoNode = apierrors.NewNotFound(corev1.Resource("nodes"), nodeName)

// fakeTable is what the table and the provider say.
type fakeTable struct {
	mu        sync.Mutex
	claims    []claims.Claim
	releasing []claims.Claim
	writes    claims.Writes
	waiting   map[string]string // by claim id
	ended     map[string]bool   // by claim id
	verified  time.Time
	changes   chan struct{}
}

func (f *fakeTable) List() []claims.Claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.claims)
}

func (f *fakeTable) Releasing() []claims.Claim {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.releasing)
}

func (f *fakeTable) Writes() claims.Writes {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func (f *fakeTable) Changes() <-chan struct{} { return f.changes }

func (f *fakeTable) WaitingFor(c claims.Claim) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.waiting[c.ID]
}

func (f *fakeTable) Ended(c claims.Claim) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended[c.ID]
}

func (f *fakeTable) Verified() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.verified
}

// harness is a publisher among fakes. Once it runs, what they answer is changed
// through change.
type harness struct {
	table  *fakeTable
	client *fake.Clientset
	config Config

	mu       sync.Mutex // guards the fields below
	reach    Reachability
	nodeUID  types.UID
	nodeErr  error       // what the Node is looked up with
	applied  []time.Time // when each apply of the status arrived
	applyErr error       // what applies are answered with
	watchErr error       // what watches are answered with
	watches  []*watch.RaceFreeFakeWatcher
	version  int // of the object written last
}

// claim is a bound claim, or one in another state, with a canary for a token.
func claim(name string, state claims.State) claims.Claim {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	return claims.Claim{
		Key: "team-red/" + name, State: state, Durable: true,
		Row: claims.Row{
			ID: "sb_" + name, Token: sandboxd.NewToken(canary), Address: "10.0.0.5:7777",
			PodUID: types.UID("pod-" + name), ClaimedAt: at, Deadline: at.Add(24 * time.Hour),
		},
	}
}

func newHarness() *harness {
	h := &harness{
		table: &fakeTable{
			claims:  []claims.Claim{claim("a", claims.Bound)},
			writes:  claims.Writes{Last: time.Now()},
			changes: make(chan struct{}, 1),
		},
		nodeUID: firstUID,
		client:  fake.NewClientset(),
		reach:   Reachability{Status: metav1.ConditionTrue, Reason: "SandboxdAnswers", Message: "sandboxd answers"},
	}
	h.client.PrependReactor("patch", "nodeclaimstatuses", h.answerPatch)
	h.client.PrependWatchReactor("nodeclaimstatuses", h.answerWatch)
	h.config = Config{
		NodeName: nodeName, Interval: interval, Table: h.table, Provider: h.table,
		Client: h.client.SandboxV1alpha1().NodeClaimStatuses(),
		Node: func() (*corev1.Node, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, UID: h.nodeUID}}, h.nodeErr
		},
		Sandboxd: func() Reachability {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.reach
		},
	}
	return h
}

// answerPatch does what an API server does and the fake does not: a status does
// not make an object, and an object that is written gets the next version.
func (h *harness) answerPatch(action clienttesting.Action) (bool, runtime.Object, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	status := action.GetSubresource() == "status"
	if status {
		h.applied = append(h.applied, time.Now())
	}
	if h.applyErr != nil {
		return true, nil, h.applyErr
	}
	if status {
		if _, err := h.client.Tracker().Get(action.GetResource(), "", nodeName); err != nil {
			return true, nil, err
		}
	}
	_, answer, err := clienttesting.ObjectReaction(h.client.Tracker())(action)
	if err != nil {
		return true, nil, err
	}
	object := answer.(*api.NodeClaimStatus)
	h.version++
	object.ResourceVersion = strconv.Itoa(h.version)
	return true, object, h.client.Tracker().Update(action.GetResource(), object, "")
}

// answerWatch keeps what the tracker watches with, so that it can be ended.
func (h *harness) answerWatch(action clienttesting.Action) (bool, watch.Interface, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watchErr != nil {
		return true, nil, h.watchErr
	}
	options := action.(clienttesting.WatchActionImpl).ListOptions
	if options.FieldSelector != "metadata.name="+nodeName {
		return true, nil, errors.New("a watch on more than the one object: " + options.FieldSelector)
	}
	if options.ResourceVersion != "" {
		return true, nil, errors.New("a watch from a version that the API server may not have: " + options.ResourceVersion)
	}
	w, err := h.client.Tracker().Watch(action.GetResource(), "", options)
	if err == nil {
		h.watches = append(h.watches, w.(*watch.RaceFreeFakeWatcher))
	}
	return true, w, err
}

func (h *harness) publisher(t *testing.T) *Publisher {
	t.Helper()
	p, err := NewPublisher(h.config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// run starts a publisher, and returns what it logs and how to end it.
func (h *harness) run(t *testing.T) (ktesting.Buffer, func()) {
	t.Helper()
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	p := h.publisher(t)
	ended := make(chan error)
	go func() { ended <- p.Run(ctx) }()
	return logger.GetSink().(ktesting.Underlier).GetBuffer(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil at the end of its context", err)
		}
	}
}

// start runs a publisher to the end of the test, returns what it logs, and lets
// it get over its first publication.
func (h *harness) start(t *testing.T) ktesting.Buffer {
	t.Helper()
	logs, stop := h.run(t)
	t.Cleanup(stop)
	pass(3 * interval)
	return logs
}

// pass lets time go by, and then the publisher finish what it is doing.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// change changes what the fakes answer, without a word.
func (h *harness) change(f func()) {
	for _, mu := range []*sync.Mutex{&h.table.mu, &h.mu} {
		mu.Lock()
		defer mu.Unlock()
	}
	f()
}

// move changes the table, which says so.
func (h *harness) move(f func()) {
	h.change(f)
	select {
	case h.table.changes <- struct{}{}:
	default:
	}
}

func (h *harness) stored(t *testing.T) *api.NodeClaimStatus {
	t.Helper()
	got, err := h.config.Client.Get(t.Context(), nodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// applies are the times at which applies of the status arrived so far.
func (h *harness) applies() []time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.applied)
}

func condition(t *testing.T, object *api.NodeClaimStatus, name string) metav1.Condition {
	t.Helper()
	for _, c := range object.Status.Conditions {
		if c.Type == name {
			return c
		}
	}
	t.Fatalf("no condition %s in %v", name, object.Status.Conditions)
	return metav1.Condition{}
}

func pods(object *api.NodeClaimStatus) []string {
	var out []string
	for _, c := range object.Status.Claims {
		out = append(out, c.Pod+" "+string(c.State))
	}
	return out
}
