// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
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

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// ownConditions are conditions that a test changes.
type ownConditions struct {
	mu  sync.Mutex
	now []metav1.Condition
}

func (s *ownConditions) get() []metav1.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.now)
}

func (s *ownConditions) set(now ...metav1.Condition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// startController registers the test node against client until the test ends.
func startController(t *testing.T, client *fake.Clientset, conditions func() []metav1.Condition) (registered func() bool) {
	t.Helper()
	return startRecordedController(t, client, conditions, &record.FakeRecorder{})
}

func startRecordedController(t *testing.T, client *fake.Clientset, conditions func() []metav1.Condition, recorder record.EventRecorder) (registered func() bool) {
	t.Helper()
	c := nodeConfig(func(c *Config) {
		c.HeartbeatClient, c.Node, c.HostID, c.Conditions, c.Recorder = client, NewInformer(client, c.NodeName), "host-a", conditions, recorder
	})
	controller := &Controller{config: *c, status: newNodeStatus(newNode(c, 10260, conditions(), time.Now()))}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	var isRegistered atomic.Bool
	c.Node.Start(ctx)
	go func() { done <- controller.Run(ctx, func() { isRegistered.Store(true) }) }()
	t.Cleanup(func() {
		cancel()
		c.Node.Shutdown()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
	})
	return isRegistered.Load
}

func TestRegistersNodeAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		registered := startController(t, client, alwaysReachable)
		synctest.Wait()
		if !registered() {
			t.Fatal("not registered")
		}
		n := fakecluster.StoredNode(t, client)
		if len(n.Spec.Taints) != 1 || fakecluster.Condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
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
		startController(t, client, alwaysReachable)
		time.Sleep(5 * time.Minute)
		for range 3 {
			if err := client.CoreV1().Nodes().Delete(t.Context(), "host-1-sandboxd", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			// The Pods of a missing Node are collected after 40 seconds.
			time.Sleep(15 * time.Second)
			synctest.Wait()
			n := fakecluster.StoredNode(t, client)
			if n.Annotations[AnnotationHostID] != "host-a" {
				t.Errorf("annotations = %v, want the host's identity from the creation on", n.Annotations)
			}
			if n.Labels["kubernetes.io/hostname"] != "host-1-sandboxd" || len(n.Spec.Taints) != 1 || fakecluster.Condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
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
		startController(t, client, alwaysReachable)
		time.Sleep(5*time.Minute + time.Second) // the next update by itself is far
		n := fakecluster.StoredNode(t, client)
		for i := range n.Status.Conditions {
			n.Status.Conditions[i].Status, n.Status.Conditions[i].Reason = corev1.ConditionUnknown, "NodeStatusUnknown"
		}
		if _, err := client.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(observeInterval + time.Second)
		synctest.Wait()
		for _, c := range fakecluster.StoredNode(t, client).Status.Conditions {
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
		registered := startController(t, client, alwaysReachable)
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
		fakecluster.StoredNode(t, client)
	})
}

func TestOwnConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, events := fake.NewClientset(), record.NewFakeRecorder(10)
		durable := condition("ClaimsTableDurable", metav1.ConditionTrue, "Written", "written")
		state := &ownConditions{now: []metav1.Condition{condition(reachable.Type, metav1.ConditionUnknown, "NotAsked", "not asked yet"), durable}}
		startRecordedController(t, client, state.get, events)
		synctest.Wait()
		check := func() {
			t.Helper()
			n := fakecluster.StoredNode(t, client)
			for _, want := range state.get() {
				if got := stated(fakecluster.Condition(n, corev1.NodeConditionType(want.Type))); got != want {
					t.Errorf("condition = %+v, want %+v", got, want)
				}
			}
			if fakecluster.Condition(n, corev1.NodeReady).Status != corev1.ConditionTrue {
				t.Error("the node is not Ready")
			}
			if n.Labels["type"] != "virtual-kubelet" || len(n.Status.Addresses) != 2 || n.Status.Capacity.Cpu().Value() != 4000 {
				t.Errorf("the update was not complete: %+v", n)
			}
		}
		check()
		full := condition(durable.Type, metav1.ConditionFalse, "WriteFailed", "the disk is full")
		for _, now := range [][]metav1.Condition{
			{reachable, durable},
			{condition(reachable.Type, metav1.ConditionFalse, "Unreachable", "no answer"), full},
			{condition(reachable.Type, metav1.ConditionFalse, "Refused", "the credential is refused"), full},
			{reachable, durable},
		} {
			state.set(now...)
			time.Sleep(observeInterval + time.Second)
			synctest.Wait()
			check()
		}
		got := fakecluster.Recorded(events)
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
		startController(t, client, alwaysReachable)
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
		startController(t, client, alwaysReachable)
		synctest.Wait()
		n := fakecluster.StoredNode(t, client)
		n.Labels["example.com/theirs"] = "yes"
		n.Labels["type"] = "taken"
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: "example.com/Theirs", Status: corev1.ConditionTrue})
		if _, err := client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		n = fakecluster.StoredNode(t, client)
		if n.Labels["example.com/theirs"] != "yes" || fakecluster.Condition(n, "example.com/Theirs").Status != corev1.ConditionTrue {
			t.Errorf("foreign label or condition lost: %v %v", n.Labels, n.Status.Conditions)
		}
		if n.Labels["type"] != "virtual-kubelet" {
			t.Error("the node's own label was not put back")
		}
	})
}
