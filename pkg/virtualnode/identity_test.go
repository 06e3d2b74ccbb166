// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

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

func TestCheckOwn(t *testing.T) {
	virtual := map[string]string{"type": "virtual-kubelet"}
	for name, tc := range map[string]struct {
		node *corev1.Node
		says string
	}{
		"ours":                   {existingNode(virtual, providerTaint()), ""},
		"ours without its taint": {existingNode(virtual), ""},
		"ours, cordoned":         {existingNode(virtual, providerTaint(), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: "NoSchedule"}), ""},
		"the host's own":         {existingNode(map[string]string{"kubernetes.io/os": "linux"}), "not a virtual node"},
		"without labels":         {existingNode(nil), "not a virtual node"},
		"another provider's":     {existingNode(virtual, corev1.Taint{Key: "virtual-kubelet.io/provider", Value: "cocoon", Effect: "NoSchedule"}), `provider "cocoon"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkOwn(tc.node)
			if tc.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "--node-name") {
				t.Errorf("error = %v, want one with %q and the flag", err, tc.says)
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
		n, err := claimIdentity(t.Context(), client.CoreV1().Nodes(), "host-1-sandboxd")
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
		if _, err := claimIdentity(ctx, client.CoreV1().Nodes(), "n"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
	})
}

func TestRestoreTaint(t *testing.T) {
	other := corev1.Taint{Key: "example.com/other", Effect: corev1.TaintEffectNoExecute}
	for name, tc := range map[string]struct {
		has     []corev1.Taint
		patches int
	}{
		"present":            {[]corev1.Taint{providerTaint(), other}, 0},
		"absent":             {nil, 1},
		"absent, others are": {[]corev1.Taint{other}, 1},
		"of another effect":  {[]corev1.Taint{{Key: "virtual-kubelet.io/provider", Value: "sandboxd", Effect: corev1.TaintEffectPreferNoSchedule}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset(existingNode(nil, tc.has...))
			n, err := client.CoreV1().Nodes().Get(t.Context(), "host-1-sandboxd", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := restoreTaint(t.Context(), client.CoreV1().Nodes(), n); err != nil {
				t.Fatal(err)
			}
			if got := len(patches(client)); got != tc.patches {
				t.Errorf("%d patches, want %d", got, tc.patches)
			}
			n, err = client.CoreV1().Nodes().Get(t.Context(), "host-1-sandboxd", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			have := map[corev1.Taint]bool{}
			for _, taint := range n.Spec.Taints {
				have[taint] = true
			}
			for _, want := range append(tc.has, providerTaint()) {
				if !have[want] {
					t.Errorf("taints = %v, want %v among them", n.Spec.Taints, want)
				}
			}
		})
	}
}
