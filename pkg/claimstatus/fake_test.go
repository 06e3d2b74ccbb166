// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2/ktesting"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

const (
	interval = 10 * time.Second
	secret   = "SECRET-7f3a91"
)

// fakeTable is what the table and the provider say.
type fakeTable struct {
	mu        sync.Mutex
	claims    []claims.Claim
	releasing []claims.Claim
	writes    claims.Writes
	waiting   map[string]string // by claim id
	ended     map[string]bool   // by claim id
	ending    map[string]bool   // by claim id
	verified  time.Time
	changes   chan struct{}
	reachable metav1.Condition
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

func (f *fakeTable) LeaseEnding(c claims.Claim) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ending[c.ID]
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

func (f *fakeTable) SandboxdReachable() metav1.Condition {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reachable
}

// harness is a publisher among fakes. Once it runs, what they answer is changed
// through change.
type harness struct {
	*fakeapi.Server
	table  *fakeTable
	config Config
}

// claim is a bound claim, or one in another state, with a secret token.
func claim(name string, state claims.State) claims.Claim {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	return claims.Claim{
		Key: "team-red/" + name, State: state, Durable: true,
		Row: claims.Row{
			ID: "sb_" + name, Token: sandboxd.NewToken(secret), Address: "10.0.0.5:7777",
			PodUID: types.UID("pod-" + name), ClaimedAt: at, Deadline: at.Add(24 * time.Hour),
		},
	}
}

func newHarness() *harness {
	h := &harness{
		Server: fakeapi.New(api.SchemeGroupVersion.WithResource("nodeclaimstatuses"), "status"),
		table: &fakeTable{
			claims:  []claims.Claim{claim("a", claims.Bound)},
			writes:  claims.Writes{Last: time.Now()},
			changes: make(chan struct{}, 1),
			reachable: metav1.Condition{
				Type: api.ConditionSandboxdReachable, Status: metav1.ConditionTrue, Reason: "SandboxdAnswers", Message: "sandboxd answers",
			},
		},
	}
	h.config = Config{
		Config: publish.Config{NodeName: fakeapi.NodeName, Interval: interval, Node: h.Node, Off: "stop it"},
		Table:  h.table, Provider: h.table,
		Client: h.Client.SandboxV1alpha1().NodeClaimStatuses(),
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

// run starts a publisher, and returns what it logs and how to end it.
func (h *harness) run(t *testing.T) (ktesting.Buffer, func()) {
	t.Helper()
	return fakeapi.Run(t, h.publisher(t).Run)
}

// start runs a publisher to the end of the test, returns what it logs, and lets
// it get over its first publication.
func (h *harness) start(t *testing.T) ktesting.Buffer {
	t.Helper()
	logs, stop := h.run(t)
	t.Cleanup(stop)
	fakeapi.Pass(3 * interval)
	return logs
}

// change changes what the fakes answer, without a word.
func (h *harness) change(f func()) { h.Change(f, &h.table.mu) }

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
	got, err := h.config.Client.Get(t.Context(), fakeapi.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got
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
