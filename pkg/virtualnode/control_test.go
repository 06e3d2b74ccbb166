// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestADaemonThatIsNotAdmittedTakesNoPods(t *testing.T) {
	for name, left := range map[string]*corev1.Node{"first start": nil, "restart": leftNode("host-a")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(fakecluster.PublishedPod())
				if left != nil {
					client = fake.NewClientset(fakecluster.PublishedPod(), left)
				}
				admitted, provider := make(chan struct{}), newFakeProvider(nil)
				closed := metav1.Condition{
					Type: "ClusterAccepted", Status: metav1.ConditionFalse, Reason: "OtherCluster", Message: "the claims belong to another cluster",
				}
				v := startControl(t, client, provider, func(c *Config) {
					c.HostID, c.Admitted = "host-a", admitted
					c.Conditions = func() []metav1.Condition { return append(alwaysReachable(), closed) }
				})
				<-v.Registered()
				time.Sleep(10 * time.Minute)
				n := fakecluster.StoredNode(t, client)
				if pods, room := n.Status.Capacity.Pods().Value(), n.Status.Allocatable.Pods().Value(); pods != 0 || room != 0 {
					t.Errorf("room for %d Pods of %d, want none", room, pods)
				}
				if n.Status.Capacity.Cpu().Value() != 4000 || fakecluster.Condition(n, corev1.NodeReady).Status != corev1.ConditionTrue || fakecluster.Condition(n, corev1.NodeConditionType(closed.Type)).Reason != closed.Reason {
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
				n = fakecluster.StoredNode(t, client)
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
				client := fake.NewClientset(fakecluster.PublishedPod())
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
				if got := fakecluster.StoredNode(t, client).Status.Allocatable.Pods().Value(); got != 2000 {
					t.Errorf("room for %d Pods", got)
				}
			})
		})
	}
}

func TestASecondHostLooksAtNoPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, provider := fake.NewClientset(leftNode("host-b"), fakecluster.PublishedPod()), newFakeProvider(nil)
		fakecluster.WithVersions(client)
		fakecluster.KeepRenewed(t, client)
		_, done := runControl(t.Context(), t, client, provider, ofHost("host-a"))
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

// The old holder ends, and what it still writes does not bring its identity back.
func TestADaemonEndsWhenAnotherHostHasItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		fakecluster.WithVersions(client)
		v, done := runControl(t.Context(), t, client, newFakeProvider(nil), ofHost("host-a"))
		<-v.Registered()
		time.Sleep(10 * time.Minute)
		if got := fakecluster.StoredNode(t, client).Annotations[nodeobject.AnnotationHostID]; got != "host-a" {
			t.Fatalf("the Node belongs to %q", got)
		}
		patch := []byte(`{"metadata":{"annotations":{"sandbox.cocoonstack.io/host-id":"host-b"}}}`)
		if _, err := client.CoreV1().Nodes().Patch(t.Context(), "host-1-sandboxd", types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			var taken *nodeobject.NameTakenError
			if !errors.As(err, &taken) || !strings.Contains(err.Error(), `"host-b"`) {
				t.Errorf("error = %v, want one about the node's name that names the host", err)
			}
		case <-time.After(time.Second):
			t.Error("it goes on")
		}
		if got := fakecluster.StoredNode(t, client).Annotations[nodeobject.AnnotationHostID]; got != "host-b" {
			t.Errorf("the Node belongs to %q", got)
		}
	})
}
