// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// runClaimed claims and runs the test node for a host until the test ends, and returns
// what it ends with.
func runClaimed(t *testing.T, client *fake.Clientset, hostID string) (registered <-chan struct{}, done <-chan error) {
	t.Helper()
	c := nodeConfig(func(c *Config) {
		c.HeartbeatClient, c.Node, c.HostID = client, NewInformer(client, c.NodeName), hostID
		c.Conditions, c.Recorder = alwaysReachable, &record.FakeRecorder{}
	})
	isRegistered, ended := make(chan struct{}), make(chan error, 1)
	run := func() error {
		controller, err := Claim(t.Context(), *c, 10260)
		if err != nil {
			return err
		}
		sameHost, err := controller.WatchHost()
		if err != nil {
			return err
		}
		group, ctx := errgroup.WithContext(t.Context())
		c.Node.Start(ctx)
		defer c.Node.Shutdown()
		group.Go(func() error { return sameHost(ctx) })
		group.Go(func() error { return controller.Run(ctx, sync.OnceFunc(func() { close(isRegistered) })) })
		return group.Wait()
	}
	go func() { ended <- run() }()
	return isRegistered, ended
}

// A cordon, and whatever else others have put on the Node, is there after the
// takeover and after the old holder's identity is gone.
func TestAReplacedHostTakesTheNodeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		theirs := corev1.Taint{Key: "example.com/theirs", Effect: corev1.TaintEffectNoSchedule}
		client := fake.NewClientset(heldNode("host-b", func(n *corev1.Node) {
			n.Spec.Unschedulable, n.Labels["example.com/theirs"] = true, "yes"
			n.Spec.Taints = []corev1.Taint{theirs}
		}))
		fakecluster.WithVersions(client)
		if err := client.Tracker().Add(fakecluster.NodeLease(time.Now())); err != nil {
			t.Fatal(err)
		}
		registered, _ := runClaimed(t, client, "host-a")
		<-registered
		for range 3 { // right away, and while it runs
			n := fakecluster.StoredNode(t, client)
			if n.UID != "node-uid" || n.Annotations[AnnotationHostID] != "host-a" {
				t.Errorf("node %s belongs to %q", n.UID, n.Annotations[AnnotationHostID])
			}
			if !n.Spec.Unschedulable || n.Labels["example.com/theirs"] != "yes" || len(n.Spec.Taints) != 2 || n.Spec.Taints[0] != theirs || n.Spec.Taints[1] != providerTaint() {
				t.Errorf("unschedulable %t, labels %v, taints %v", n.Spec.Unschedulable, n.Labels, n.Spec.Taints)
			}
			time.Sleep(2 * time.Minute)
		}
	})
}

// The old holder ends, and what it still writes does not bring its identity back.
func TestAHostThatLosesItsNodeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		fakecluster.WithVersions(client)
		registered, done := runClaimed(t, client, "host-a")
		<-registered
		time.Sleep(10 * time.Minute)
		taken := fakecluster.StoredNode(t, client)
		taken.Annotations[AnnotationHostID] = "host-b"
		if _, err := client.CoreV1().Nodes().Update(t.Context(), taken, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-done:
			if !isNameTaken(err) || !strings.Contains(err.Error(), `"host-b"`) {
				t.Errorf("error = %v, want one about the node's name that names the host", err)
			}
		default:
			t.Error("it goes on")
		}
		if got := fakecluster.StoredNode(t, client).Annotations[AnnotationHostID]; got != "host-b" {
			t.Errorf("the Node belongs to %q", got)
		}
	})
}

func TestRestartTakesUpItsOwnNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		since := time.Now().Add(-24 * time.Hour)
		left := newNode(nodeConfig(nil), 10260, alwaysReachable(), since)
		left.UID, left.Spec.Taints = "node-uid", []corev1.Taint{{Key: "example.com/theirs", Effect: corev1.TaintEffectNoSchedule}}
		client := fake.NewClientset(left)
		registered, _ := runClaimed(t, client, "")
		<-registered
		n := fakecluster.StoredNode(t, client)
		if n.UID != "node-uid" || len(n.Spec.Taints) != 2 || n.Spec.Taints[1] != providerTaint() {
			t.Errorf("node %s has the taints %v, want its own put back", n.UID, n.Spec.Taints)
		}
		if ready := fakecluster.Condition(n, corev1.NodeReady); !ready.LastTransitionTime.Time.Equal(since) || ready.LastHeartbeatTime.Time.Equal(since) {
			t.Errorf("condition = %+v, want a new heartbeat and the old transition", ready)
		}
	})
}

// Two hosts that start at once: the Node belongs to the one that created it.
func TestTwoHostsThatRegisterAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		fakecluster.WithVersions(client)
		_, first := runClaimed(t, client, "host-a")
		_, second := runClaimed(t, client, "host-b")
		time.Sleep(time.Minute)
		winner, ended := fakecluster.StoredNode(t, client).Annotations[AnnotationHostID], second
		if winner == "host-b" {
			ended = first
		}
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), winner) {
				t.Errorf("error = %v, want one that names %s", err, winner)
			}
		default:
			t.Errorf("the Node belongs to %q, and the other host goes on", winner)
		}
		select {
		case err := <-map[bool]<-chan error{true: first, false: second}[winner == "host-a"]:
			t.Errorf("the host that has the Node ended with %v", err)
		default:
		}
	})
}
