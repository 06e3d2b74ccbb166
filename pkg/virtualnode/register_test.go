// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
)

// ownConditions are conditions that a test changes.
type ownConditions struct {
	mu  sync.Mutex
	now []Condition
}

func (s *ownConditions) get() []Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.now)
}

func (s *ownConditions) set(now ...Condition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// startRegistration registers the test node against client until the test ends.
func startRegistration(t *testing.T, client *fake.Clientset, conditions func() []Condition) (registered func() bool) {
	t.Helper()
	return startRecordedRegistration(t, client, conditions, &record.FakeRecorder{})
}

func startRecordedRegistration(t *testing.T, client *fake.Clientset, conditions func() []Condition, recorder record.EventRecorder) (registered func() bool) {
	t.Helper()
	node, informer := newMilestone(), NewNodeInformer(client, "host-1-sandboxd")
	reg := &registration{
		status: newNodeStatus(newNode(nodeConfig(nil), 10260, conditions(), time.Now())),
		client: client, node: informer, hostID: "host-a", conditions: conditions, recorder: recorder,
		onRegistered: node.pass,
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	informer.factory.StartWithContext(ctx)
	go func() { done <- reg.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		informer.factory.Shutdown()
		if err := <-done; err != nil {
			t.Errorf("run ended with %v", err)
		}
	})
	return func() bool {
		select {
		case <-node.done:
			return true
		default:
			return false
		}
	}
}

func getNode(t *testing.T, client *fake.Clientset) *corev1.Node {
	t.Helper()
	n, err := client.CoreV1().Nodes().Get(t.Context(), "host-1-sandboxd", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func condition(n *corev1.Node, kind corev1.NodeConditionType) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.NodeCondition{}
}

func TestNodeStatusHandsOutCopies(t *testing.T) {
	s := newNodeStatus(newNode(nodeConfig(nil), 10260, alwaysReachable(), time.Now()))
	mine := s.current()
	mine.Status.Conditions[0].Status, mine.Labels["type"] = "x", "x"
	if now := s.current(); now.Status.Conditions[0].Status == "x" || now.Labels["type"] == "x" {
		t.Error("a write to the copy reached the original")
	}
}

func TestRegistersNodeAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		registered := startRegistration(t, client, alwaysReachable)
		synctest.Wait()
		if !registered() {
			t.Fatal("not registered")
		}
		n := getNode(t, client)
		if len(n.Spec.Taints) != 1 || condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
			t.Errorf("node = %+v", n)
		}
		for range 3 {
			time.Sleep(20 * time.Second)
			synctest.Wait()
			lease, err := client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(t.Context(), "host-1-sandboxd", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if age := time.Since(lease.Spec.RenewTime.Time); age > 15*time.Second || *lease.Spec.LeaseDurationSeconds != 40 {
				t.Errorf("lease of %d s was renewed %v ago", *lease.Spec.LeaseDurationSeconds, age)
			}
		}
	})
}

func TestDeletedNodeIsRegisteredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startRegistration(t, client, alwaysReachable)
		time.Sleep(5 * time.Minute)
		for range 3 {
			if err := client.CoreV1().Nodes().Delete(t.Context(), "host-1-sandboxd", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			// The Pods of a missing Node are collected after 40 seconds.
			time.Sleep(15 * time.Second)
			synctest.Wait()
			n := getNode(t, client)
			if n.Annotations[AnnotationHostID] != "host-a" {
				t.Errorf("annotations = %v, want the host's identity from the creation on", n.Annotations)
			}
			if n.Labels["kubernetes.io/hostname"] != "host-1-sandboxd" || len(n.Spec.Taints) != 1 || condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
				t.Errorf("node = %+v", n)
			}
		}
	})
}

// A Node that is reached again takes Pods again, and those that it has are not
// evicted.
func TestANodeThatWasGivenUpIsReadyAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startRegistration(t, client, alwaysReachable)
		time.Sleep(5*time.Minute + time.Second) // the next update by itself is far
		n := getNode(t, client)
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].Status, n.Status.Conditions[i].Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		}
		if _, err := client.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(observeInterval + time.Second)
		synctest.Wait()
		for _, c := range getNode(t, client).Status.Conditions {
			if c.Status == corev1.ConditionUnknown {
				t.Errorf("condition %+v", c)
			}
		}
	})
}

func TestRegistrationOutlivesAnAbsentAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		var mu sync.Mutex
		down := true
		client.PrependReactor("*", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			mu.Lock()
			defer mu.Unlock()
			return down, nil, apierrors.NewServiceUnavailable("away")
		})
		registered := startRegistration(t, client, alwaysReachable)
		time.Sleep(time.Hour)
		synctest.Wait()
		if registered() {
			t.Fatal("registered without an API server")
		}
		mu.Lock()
		down = false
		mu.Unlock()
		time.Sleep(40 * time.Second)
		synctest.Wait()
		if !registered() {
			t.Fatal("not registered 40 seconds after the API server came back")
		}
		getNode(t, client)
	})
}

func TestOwnConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, events := fake.NewClientset(), record.NewFakeRecorder(10)
		writable := Condition{ConditionClaimsTableWritable, corev1.ConditionTrue, "Written", "written"}
		state := &ownConditions{now: []Condition{{reachable.Type, corev1.ConditionUnknown, "NotAsked", "not asked yet"}, writable}}
		startRecordedRegistration(t, client, state.get, events)
		synctest.Wait()
		check := func() {
			t.Helper()
			n := getNode(t, client)
			for _, want := range state.get() {
				c := condition(n, want.Type)
				if got := (Condition{c.Type, c.Status, c.Reason, c.Message}); got != want {
					t.Errorf("condition = %+v, want %+v", got, want)
				}
			}
			if condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
				t.Error("the node is not Ready")
			}
			if n.Labels["type"] != "virtual-kubelet" || len(n.Status.Addresses) != 2 || n.Status.Capacity.Cpu().Value() != 4000 {
				t.Errorf("the update was not complete: %+v", n)
			}
		}
		check()
		full := Condition{writable.Type, corev1.ConditionFalse, "WriteFailed", "the disk is full"}
		for _, now := range [][]Condition{
			{reachable, writable},
			{{reachable.Type, corev1.ConditionFalse, "Unreachable", "no answer"}, full},
			{{reachable.Type, corev1.ConditionFalse, "Refused", "the credential is refused"}, full},
			{reachable, writable},
		} {
			state.set(now...)
			time.Sleep(observeInterval + time.Second)
			synctest.Wait()
			check()
		}
		got := recorded(events)
		// A new reason under the same status is published, and no event.
		want := []string{
			"Normal Answering sandboxd answers",
			"Warning Unreachable no answer", "Warning WriteFailed the disk is full",
			"Normal Answering sandboxd answers", "Normal Written written",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

func TestIdleNodeIsReadAndWrittenOncePerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startRegistration(t, client, alwaysReachable)
		synctest.Wait()
		client.ClearActions()
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		requests := map[string]int{}
		for _, a := range client.Actions() {
			if a.GetResource().Resource == "nodes" {
				requests[a.GetVerb()]++
			}
		}
		// The library reads the Node before it writes.
		if diff := cmp.Diff(map[string]int{"get": 10, "patch": 10}, requests); diff != "" {
			t.Errorf("requests about the Node in ten idle minutes (-want +got):\n%s", diff)
		}
	})
}

func TestForeignConditionsAndLabelsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startRegistration(t, client, alwaysReachable)
		synctest.Wait()
		n := getNode(t, client)
		n.Labels["example.com/theirs"] = "yes"
		n.Labels["type"] = "taken"
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "example.com/Theirs", Status: corev1.ConditionTrue})
		if _, err := client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		n = getNode(t, client)
		if n.Labels["example.com/theirs"] != "yes" || condition(n, "example.com/Theirs").Status != corev1.ConditionTrue {
			t.Errorf("foreign label or condition lost: %v %v", n.Labels, n.Status.Conditions)
		}
		if n.Labels["type"] != "virtual-kubelet" {
			t.Error("the node's own label was not put back")
		}
	})
}
