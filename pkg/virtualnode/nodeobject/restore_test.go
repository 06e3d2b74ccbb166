// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
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

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestRestore(t *testing.T) {
	theirs := corev1.Taint{Key: "example.com/other", Effect: corev1.TaintEffectNoExecute}
	weaker := corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "sandboxd", Effect: corev1.TaintEffectPreferNoSchedule}
	renamed := corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "other", Effect: corev1.TaintEffectNoSchedule}
	taints := func(taints ...corev1.Taint) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Spec.Taints = taints }
	}
	for name, tc := range map[string]struct {
		change  func(*corev1.Node)
		taints  []corev1.Taint
		patches int
	}{
		"nothing is lost":           {taints(providerTaint(), theirs), []corev1.Taint{providerTaint(), theirs}, 0},
		"the taint":                 {taints(), []corev1.Taint{providerTaint()}, 1},
		"the taint, others are":     {taints(theirs), []corev1.Taint{theirs, providerTaint()}, 1},
		"the taint's effect":        {taints(weaker), []corev1.Taint{weaker, providerTaint()}, 1},
		"the taint's value":         {taints(theirs, renamed), []corev1.Taint{theirs, providerTaint()}, 1},
		"a label":                   {func(n *corev1.Node) { delete(n.Labels, "type") }, []corev1.Taint{providerTaint()}, 1},
		"a configured label":        {func(n *corev1.Node) { delete(n.Labels, "sandbox.cocoonstack.io/runtime") }, []corev1.Taint{providerTaint()}, 1},
		"a label's value":           {func(n *corev1.Node) { n.Labels["type"] = "other" }, []corev1.Taint{providerTaint()}, 1},
		"the host's identity":       {func(n *corev1.Node) { n.Annotations = nil }, []corev1.Taint{providerTaint()}, 1},
		"all of them":               {func(n *corev1.Node) { n.Labels, n.Annotations, n.Spec.Taints = nil, nil, nil }, []corev1.Taint{providerTaint()}, 1},
		"nothing of another host's": {func(n *corev1.Node) { n.Annotations[AnnotationHostID], n.Spec.Taints = "host-b", nil }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			n := heldNode("host-a", tc.change, func(n *corev1.Node) {
				if n.Labels != nil {
					n.Labels["example.com/theirs"] = "yes"
				}
				n.Spec.Unschedulable = true
			})
			client := fake.NewClientset(n)
			tried, err := restore(t.Context(), client.CoreV1().Nodes(), n, heldNode(""), "host-a")
			if err != nil || tried != (tc.patches > 0) {
				t.Fatalf("tried %t, error %v", tried, err)
			}
			if got := len(fakecluster.Patches(client)); got != tc.patches {
				t.Errorf("%d patches, want %d", got, tc.patches)
			}
			got := fakecluster.StoredNode(t, client)
			if diff := cmp.Diff(tc.taints, got.Spec.Taints); diff != "" {
				t.Errorf("taints (-want +got):\n%s", diff)
			}
			if !got.Spec.Unschedulable {
				t.Error("the cordon was lifted")
			}
			if n.Labels != nil && got.Labels["example.com/theirs"] != "yes" {
				t.Error("a label of others was removed")
			}
			for key, value := range heldNode("").Labels {
				if got.Labels[key] != value {
					t.Errorf("label %s = %q, want %q", key, got.Labels[key], value)
				}
			}
		})
	}
}

// loseAll takes from the Node what makes it a virtual node, and cordons it.
func loseAll(t *testing.T, client *fake.Clientset) {
	t.Helper()
	n := fakecluster.StoredNode(t, client)
	delete(n.Labels, "type")
	n.Labels["sandbox.cocoonstack.io/runtime"], n.Labels["example.com/theirs"] = "other", "yes"
	delete(n.Annotations, AnnotationHostID)
	n.Spec.Unschedulable = true
	n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
	if _, err := client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestLostTaintAndLabelsAreBackWithinAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		fakecluster.WithVersions(client)
		startController(t, client, alwaysReachable)
		time.Sleep(5*time.Minute + time.Second)
		for range 3 {
			loseAll(t, client)
			time.Sleep(restoreInterval + observeInterval + time.Second)
			synctest.Wait()
			n := fakecluster.StoredNode(t, client)
			if len(n.Spec.Taints) != 2 || n.Spec.Taints[1] != providerTaint() {
				t.Errorf("taints = %v, want the cordon's and the provider's", n.Spec.Taints)
			}
			if n.Labels["type"] != "virtual-kubelet" || n.Labels["sandbox.cocoonstack.io/runtime"] != "sandboxd" || n.Annotations[AnnotationHostID] != "host-a" {
				t.Errorf("labels = %v, annotations = %v", n.Labels, n.Annotations)
			}
			if !n.Spec.Unschedulable || n.Labels["example.com/theirs"] != "yes" {
				t.Errorf("what others set is lost: unschedulable %t, labels %v", n.Spec.Unschedulable, n.Labels)
			}
		}
	})
}

// Someone who removes the taint for ever is answered at a bounded rate, and an
// API server that refuses the restore is not asked more often either.
func TestRestoresAreBounded(t *testing.T) {
	for name, refuse := range map[string]bool{"removed again and again": false, "refused": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				fakecluster.WithVersions(client)
				var restores atomic.Int32
				client.PrependReactor("patch", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
					if a.GetSubresource() != "" {
						return false, nil, nil
					}
					restores.Add(1)
					return refuse, nil, apierrors.NewForbidden(corev1.Resource("nodes"), "host-1-sandboxd", nil)
				})
				startController(t, client, alwaysReachable)
				time.Sleep(time.Second) // never at the instant of an observation
				before := restores.Load()
				for range 120 {
					n := fakecluster.StoredNode(t, client)
					n.Spec.Taints = nil
					if _, err := client.CoreV1().Nodes().Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(5 * time.Second)
				}
				if n := restores.Load() - before; n < 10 || n > 20 {
					t.Errorf("%d restores in ten minutes, want one in 30 s at most", n)
				}
			})
		})
	}
}
