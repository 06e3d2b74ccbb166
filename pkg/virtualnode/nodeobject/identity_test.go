// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func existingNode(labels map[string]string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "host-1-sandboxd", UID: "node-uid", Labels: labels},
		Spec:       corev1.NodeSpec{Taints: taints},
	}
}

// isNameTaken reports whether err says that the node's name belongs to someone else.
func isNameTaken(err error) bool {
	var taken *NameTakenError
	return errors.As(err, &taken) && errors.Unwrap(taken) != nil
}

func TestCheckOwn(t *testing.T) {
	virtual := map[string]string{"type": "virtual-kubelet"}
	for name, tc := range map[string]struct {
		node *corev1.Node
		says string
	}{
		"ours":                         {existingNode(virtual, providerTaint()), ""},
		"ours without its taint":       {existingNode(virtual), ""},
		"ours, cordoned":               {existingNode(virtual, providerTaint(), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: "NoSchedule"}), ""},
		"the host's own":               {existingNode(map[string]string{"kubernetes.io/os": "linux"}), "not a virtual node"},
		"without labels":               {existingNode(nil), "not a virtual node"},
		"ours by its host, relabelled": {heldNode("host-a", func(n *corev1.Node) { n.Labels, n.Spec.Taints[0].Value = nil, "cocoon" }), ""},
		"another host's, relabelled":   {heldNode("host-b", func(n *corev1.Node) { n.Labels = nil }), "not a virtual node"},
		"another provider's":           {existingNode(virtual, corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "cocoon", Effect: "NoSchedule"}), `provider "cocoon"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkOwn(tc.node, "host-a")
			if tc.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !isNameTaken(err) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "choose a name") {
				t.Errorf("error = %v, want one with %q about the node's name", err, tc.says)
			}
		})
	}
}

func TestClaimIdentityWaitsForTheAPIServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(existingNode(map[string]string{"type": "virtual-kubelet"}))
		back := time.Now().Add(time.Hour)
		client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return time.Now().Before(back), nil, apierrors.NewServiceUnavailable("away")
		})
		n, err := claimIdentity(t.Context(), client, "host-1-sandboxd", "")
		if err != nil || n == nil || n.UID != "node-uid" {
			t.Fatalf("node = %v, error = %v", n, err)
		}
		if waited := time.Since(back); waited > 40*time.Second {
			t.Errorf("took %v to notice that the API server is back", waited)
		}
	})
}

func TestClaimIdentityEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependReactor("get", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("away")
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := claimIdentity(ctx, client, "n", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
	})
}
