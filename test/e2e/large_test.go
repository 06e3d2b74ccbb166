// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/inventory"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// largeNode is a node with many sandboxes whose names have the maximum length.
type largeNode struct {
	rows    []claims.Claim
	changes chan struct{}
}

func newLargeNode(n int) largeNode {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	l := largeNode{changes: make(chan struct{})}
	for i := range n {
		pod := fmt.Sprintf("%0253d", i)
		l.rows = append(l.rows, claims.Claim{
			Key: strings.Repeat("n", 63) + "/" + pod, State: claims.Bound, Durable: true,
			Row: claims.Row{
				ID: fmt.Sprintf("sb_%021d", i), Token: sandboxd.NewToken("token"), Address: "192.168.100.100:17777",
				PodUID: "6f1c1a52-0000-4000-8000-000000000001", ClaimedAt: at, Deadline: at.Add(24 * time.Hour),
				Controller: &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: pod, UID: "6f1c1a52-0000-4000-8000-000000000002"},
			},
		})
	}
	return l
}

func (l largeNode) Changes() <-chan struct{}       { return l.changes }
func (l largeNode) Releasing() []claims.Claim      { return nil }
func (l largeNode) Writes() claims.Writes          { return claims.Writes{Last: time.Now()} }
func (l largeNode) WaitingFor(claims.Claim) string { return "" }
func (l largeNode) LeaseEnding(claims.Claim) bool  { return false }
func (l largeNode) Ended(claims.Claim) bool        { return false }
func (l largeNode) Verified() time.Time            { return time.Time{} }
func (l largeNode) SandboxdReachable() metav1.Condition {
	return metav1.Condition{Type: v1alpha1.ConditionSandboxdReachable, Status: metav1.ConditionTrue, Reason: "SandboxdAnswers"}
}

// claimsTable and index are the two sources that the publishers read. They are separate
// types because both methods are named List.
type claimsTable struct{ largeNode }

func (c claimsTable) List() []claims.Claim { return c.rows }

type index struct{ largeNode }

func (x index) List(context.Context) ([]sandboxd.Sandbox, error) {
	var out []sandboxd.Sandbox
	for _, c := range x.rows {
		out = append(out, sandboxd.Sandbox{ID: c.ID, ClaimRef: c.Key, ClaimedAt: c.ClaimedAt, Deadline: c.Deadline})
	}
	return out, nil
}

func (index) Info(context.Context) (sandboxd.Info, error) { return sandboxd.Info{}, nil }

func (x index) Held() []inventory.Held {
	var out []inventory.Held
	for _, c := range x.rows {
		out = append(out, inventory.Held{ID: c.ID, Key: c.Key, Address: c.Address, ClaimedAt: c.ClaimedAt, Deadline: c.Deadline})
	}
	return out
}

// TestLargeObjects checks that a real API server and etcd store the objects of a node with
// 5,000 sandboxes, and that a reader can see that they are truncated.
func TestLargeObjects(t *testing.T) {
	t.Parallel()
	const sandboxes = 5000
	name := "large-" + rand.String(6)
	node := largeNodeObject(t, name)
	readNode := func() (*corev1.Node, error) { return node, nil }
	large := newLargeNode(sandboxes)
	published, err := claimstatus.NewPublisher(claimstatus.Config{
		Config: publish.Config{NodeName: name, Interval: time.Second, Node: readNode},
		Table:  claimsTable{large}, Provider: large,
		Client: shared.objects.SandboxV1alpha1().NodeClaimStatuses(),
	})
	if err != nil {
		t.Fatal(err)
	}
	listed, err := inventory.NewPublisher(inventory.Config{
		// The interval is also the time limit of a cycle.
		Config:        publish.Config{NodeName: name, Interval: 30 * time.Second, Node: readNode},
		AdvertiseAddr: "192.168.100.100:17777", Sandboxd: index{large}, Claims: index{large},
		Client: shared.objects.SandboxV1beta1().NodeInventories(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- published.Run(ctx) }()
	go func() { ended <- listed.Run(ctx) }()
	defer func() {
		cancel()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	}()

	eventually(t, "claim status of a large node", func(ctx context.Context) error {
		got, err := shared.objects.SandboxV1alpha1().NodeClaimStatuses().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got.Status.TruncatedCount == nil {
			return errors.New("it has no status yet")
		}
		shown, left := len(got.Status.Claims), int(*got.Status.TruncatedCount)
		if left == 0 || shown+left != sandboxes || got.Status.Counts.Bound != sandboxes || got.OwnerReferences[0].UID != node.UID {
			t.Errorf("%d shown, %d left out, counts %+v, owners %v", shown, left, got.Status.Counts, got.OwnerReferences)
		}
		logSize(t, got, shown)
		return nil
	})
	eventually(t, "inventory of a large node", func(ctx context.Context) error {
		got, err := shared.objects.SandboxV1beta1().NodeInventories().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if shown := len(got.Entries); shown == 0 || shown >= sandboxes || *got.TotalEntries != sandboxes || got.PublishedAt == nil {
			t.Errorf("%d of %d shown, published at %v", shown, *got.TotalEntries, got.PublishedAt)
		}
		logSize(t, got, len(got.Entries))
		return nil
	})
	// The API server also accepts fields of other writers.
	annotation := "--overwrite note=" + strings.Repeat("x", 100<<10)
	for _, o := range publishedObjects {
		if _, err := shared.kubectl(t.Context(), append([]string{"annotate", o.resource, name}, strings.Fields(annotation)...)...); err != nil {
			t.Errorf("annotate the %s: %.300v", o.resource, err)
		}
	}
}

// largeNodeObject creates a Node without a daemon for the duration of the test.
func largeNodeObject(t *testing.T, name string) *corev1.Node {
	t.Helper()
	nodes := shared.client.CoreV1().Nodes()
	node, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Unschedulable: true}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ignoreNotFound(nodes.Delete(context.Background(), name, metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
	})
	return node
}

func logSize(t *testing.T, object any, shown int) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%T shows %d sandboxes in %d bytes", object, shown, len(text))
}
