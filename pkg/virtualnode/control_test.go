// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
)

func TestADaemonThatIsNotAdmittedTakesNoPods(t *testing.T) {
	for name, left := range map[string]*corev1.Node{"first start": nil, "restart": heldNode("host-a")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(publishedPod())
				if left != nil {
					client = fake.NewClientset(publishedPod(), left)
				}
				admitted, provider := make(chan struct{}), newFakeProvider(nil)
				closed := Condition{"ClusterAccepted", corev1.ConditionFalse, "OtherCluster", "the claims belong to another cluster"}
				state := &ownConditions{now: []Condition{reachable, {ConditionClaimsTableWritable, corev1.ConditionTrue, "Written", "written"}, closed}}
				v := startControl(t, client, provider, func(c *Config) {
					c.HostID, c.Admitted, c.Conditions = "host-a", admitted, state.get
				})
				<-v.Registered()
				time.Sleep(10 * time.Minute)
				n := getNode(t, client)
				if pods, room := n.Status.Capacity.Pods().Value(), n.Status.Allocatable.Pods().Value(); pods != 0 || room != 0 {
					t.Errorf("room for %d Pods of %d, want none", room, pods)
				}
				if n.Status.Capacity.Cpu().Value() != 4000 || condition(n, corev1.NodeReady).Status != corev1.ConditionTrue || condition(n, closed.Type).Reason != closed.Reason {
					t.Errorf("status = %+v, want it complete, Ready, and the daemon's conditions", n.Status)
				}
				for _, a := range client.Actions() {
					if a.GetResource().Resource == "pods" {
						t.Errorf("request about Pods: %s", a.GetVerb())
					}
				}
				if provider.created() != 0 {
					t.Error("the provider was handed a Pod")
				}

				close(admitted)
				time.Sleep(time.Second)
				n = getNode(t, client)
				if pods, room := n.Status.Capacity.Pods().Value(), n.Status.Allocatable.Pods().Value(); pods != 2000 || room != 2000 {
					t.Errorf("room for %d Pods of %d a second later, want 2000", room, pods)
				}
				if provider.created() != 1 {
					t.Errorf("%d Pods were handed over, want one", provider.created())
				}
			})
		})
	}
}

// The Node of a daemon that is admitted from the start appears when its Pods are
// known, and never without room.
func TestAnAdmittedDaemonStartsWithItsPods(t *testing.T) {
	open := make(chan struct{})
	close(open)
	for name, admitted := range map[string]<-chan struct{}{"nothing to wait for": nil, "admitted already": open} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(publishedPod())
				v := startControl(t, client, newFakeProvider(nil), func(c *Config) { c.Admitted = admitted })
				<-v.Registered()
				var order []string
				for _, a := range client.Actions() {
					if request := a.GetVerb() + " " + a.GetResource().Resource; request == "list pods" || request == "create nodes" {
						order = append(order, request)
					}
				}
				if got := strings.Join(order, ", "); got != "list pods, create nodes" {
					t.Errorf("requests: %s", got)
				}
				if got := getNode(t, client).Status.Allocatable.Pods().Value(); got != 2000 {
					t.Errorf("room for %d Pods", got)
				}
			})
		})
	}
}

// runControl runs the controllers, and returns what they end with.
func runControl(t *testing.T, client *fake.Clientset, p Provider, hostID string) (*VirtualNode, <-chan error) {
	t.Helper()
	v, err := New(*nodeConfig(func(c *Config) {
		c.QueueQPS, c.QueueBurst = 200, 400
		c.Client, c.HeartbeatClient = client, client
		c.Pods, c.Node = NewPodInformer(client, "host-1-sandboxd"), NewNodeInformer(client, "host-1-sandboxd")
		c.Provider, c.Recorder, c.Conditions, c.HostID = p, &record.FakeRecorder{}, alwaysReachable, hostID
	}))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- v.control(t.Context(), 10260) }()
	return v, done
}

func TestASecondHostLooksAtNoPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(heldNode("host-b"), publishedPod()), newFakeProvider(nil)
		withVersions(client)
		keepRenewed(t, client)
		_, done := runControl(t, client, provider, "host-a")
		if err := <-done; err == nil || !strings.Contains(err.Error(), `"host-b"`) {
			t.Fatalf("error = %v, want one that names the host", err)
		}
		for _, a := range client.Actions() {
			if a.GetResource().Resource != "leases" && (a.GetVerb() != "get" || a.GetResource().Resource != "nodes") {
				t.Errorf("request: %s %s", a.GetVerb(), a.GetResource().Resource)
			}
		}
	})
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
		withVersions(client)
		if err := client.Tracker().Add(nodeLease(time.Now())); err != nil {
			t.Fatal(err)
		}
		v := startControl(t, client, newFakeProvider(nil), func(c *Config) { c.HostID = "host-a" })
		<-v.Registered()
		for range 3 { // right away, and while it runs
			n := getNode(t, client)
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
func TestADaemonEndsWhenAnotherHostHasItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		withVersions(client)
		v, done := runControl(t, client, newFakeProvider(nil), "host-a")
		<-v.Registered()
		time.Sleep(10 * time.Minute)
		if got := getNode(t, client).Annotations[AnnotationHostID]; got != "host-a" {
			t.Fatalf("the Node belongs to %q", got)
		}
		patch := []byte(`{"metadata":{"annotations":{"sandbox.cocoonstack.io/host-id":"host-b"}}}`)
		if _, err := client.CoreV1().Nodes().Patch(t.Context(), "host-1-sandboxd", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			if !isSettingError(err, SettingNodeName) || !strings.Contains(err.Error(), `"host-b"`) {
				t.Errorf("error = %v, want one about the node's name that names the host", err)
			}
		case <-time.After(time.Second):
			t.Error("it goes on")
		}
		if got := getNode(t, client).Annotations[AnnotationHostID]; got != "host-b" {
			t.Errorf("the Node belongs to %q", got)
		}
	})
}

// Two hosts that start at once: the Node belongs to the one that created it.
func TestTwoHostsThatRegisterAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		withVersions(client)
		_, first := runControl(t, client, newFakeProvider(nil), "host-a")
		_, second := runControl(t, client, newFakeProvider(nil), "host-b")
		time.Sleep(time.Minute)
		winner, ended := getNode(t, client).Annotations[AnnotationHostID], second
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
