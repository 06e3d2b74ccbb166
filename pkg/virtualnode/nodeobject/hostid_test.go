// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// heldNode is the Node as the daemon of host left it.
func heldNode(host string, change ...func(*corev1.Node)) *corev1.Node {
	n := newNode(nodeConfig(nil), 10260, alwaysReachable(), time.Unix(1_800_000_000, 0))
	n.UID, n.ResourceVersion = "node-uid", "7"
	if host != "" {
		n.Annotations = map[string]string{AnnotationHostID: host}
	}
	for _, f := range change {
		f(n)
	}
	return n
}

func TestClaimIdentityAndTheHost(t *testing.T) {
	for name, tc := range map[string]struct {
		node   *corev1.Node
		lease  bool
		hostID string
		after  time.Duration // how long it takes at most
		waits  bool          // for as long as a lease lasts, at least
		want   string        // the identity that the Node then has
	}{
		"no Node":                          {hostID: "host-a", after: 0},
		"ours":                             {node: heldNode("host-a"), lease: true, hostID: "host-a", want: "host-a"},
		"of an older build":                {node: heldNode(""), lease: true, hostID: "host-a", want: "host-a"},
		"of a host whose lease has lapsed": {node: heldNode("host-b"), lease: true, hostID: "host-a", after: time.Minute, waits: true, want: "host-a"},
		"of a host without a lease":        {node: heldNode("host-b"), hostID: "host-a", after: time.Minute, waits: true, want: "host-a"},
		"no identity is known":             {node: heldNode("host-b"), lease: true, want: "host-b"},
		"no identity, none on the Node":    {node: heldNode(""), lease: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				if tc.node != nil {
					client = fake.NewClientset(tc.node)
				}
				fakecluster.WithVersions(client)
				if tc.lease {
					if err := client.Tracker().Add(fakecluster.NodeLease(time.Now())); err != nil {
						t.Fatal(err)
					}
				}
				start := time.Now()
				n, err := claimIdentity(t.Context(), client, "host-1-sandboxd", tc.hostID)
				if err != nil || (n != nil) != (tc.node != nil) {
					t.Fatalf("node = %v, error = %v", n, err)
				}
				if took := time.Since(start); took > tc.after || tc.waits && took < 40*time.Second {
					t.Errorf("took %v", took)
				}
				if n == nil {
					return
				}
				stored := fakecluster.StoredNode(t, client)
				if got := stored.Annotations[AnnotationHostID]; got != tc.want || n.ResourceVersion != stored.ResourceVersion {
					t.Errorf("the Node belongs to %q, want %q; it was returned in version %s of %s", got, tc.want, n.ResourceVersion, stored.ResourceVersion)
				}
			})
		})
	}
}

func TestAHostWhoseLeaseIsRenewedKeepsItsName(t *testing.T) {
	for name, change := range map[string]func(*fake.Clientset){
		"all answers come": func(*fake.Clientset) {},
		// The holder cannot renew it either.
		"the API server is away": func(client *fake.Clientset) {
			away, back := time.Now().Add(2*time.Second), time.Now().Add(10*time.Minute)
			client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				return time.Now().After(away) && time.Now().Before(back), nil, apierrors.NewServiceUnavailable("away")
			})
		},
		"the lease was deleted": func(client *fake.Clientset) {
			time.AfterFunc(time.Second, func() {
				_ = client.CoordinationV1().Leases(corev1.NamespaceNodeLease).Delete(context.Background(), "host-1-sandboxd", metav1.DeleteOptions{})
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(heldNode("host-b"))
				fakecluster.WithVersions(client)
				fakecluster.KeepRenewed(t, client)
				synctest.Wait()
				change(client)
				_, err := claimIdentity(t.Context(), client, "host-1-sandboxd", "host-a")
				if err == nil {
					t.Fatal("the name was taken")
				}
				if !isNameTaken(err) {
					t.Errorf("error %q is not about the node's name", err)
				}
				for _, want := range []string{`"host-b"`, "kube-node-lease/host-1-sandboxd", "choose a node name"} {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q lacks %s", err, want)
					}
				}
				if got := fakecluster.StoredNode(t, client).Annotations[AnnotationHostID]; got != "host-b" {
					t.Errorf("the Node belongs to %q", got)
				}
			})
		})
	}
}

// Two hosts see the same lease lapse, and the other one writes first.
func TestOnlyOneOfTwoHostsTakesALapsedName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(heldNode("host-c"))
		fakecluster.WithVersions(client)
		var once sync.Once
		client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			var err error
			once.Do(func() {
				taken := heldNode("host-b", func(n *corev1.Node) { n.ResourceVersion = "8" })
				err = client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), taken, "")
				fakecluster.KeepRenewed(t, client)
			})
			return err != nil, nil, err
		})
		_, err := claimIdentity(t.Context(), client, "host-1-sandboxd", "host-a")
		if err == nil || !strings.Contains(err.Error(), `"host-b"`) {
			t.Errorf("error = %v, want one that names the host that was first", err)
		}
		if got := fakecluster.StoredNode(t, client).Annotations[AnnotationHostID]; got != "host-b" {
			t.Errorf("the Node belongs to %q", got)
		}
	})
}

// What others write to the Node while it is taken over costs no second wait.
func TestTakeoverOfANodeThatOthersWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(heldNode("host-b"))
		fakecluster.WithVersions(client)
		refused := 0
		client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			if refused++; refused > 3 {
				return false, nil, nil
			}
			return true, nil, apierrors.NewConflict(corev1.Resource("nodes"), "host-1-sandboxd", errors.New("the object has been modified"))
		})
		start := time.Now()
		if _, err := claimIdentity(t.Context(), client, "host-1-sandboxd", "host-a"); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 2*leaseLapse {
			t.Errorf("took %v", took)
		}
	})
}
