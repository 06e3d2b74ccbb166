// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/rand"
)

var sandboxes = schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}

// fixture is one test's namespace in the cluster.
type fixture struct {
	*suite
	t         *testing.T
	namespace string
}

// newFixture creates a namespace. At the end of the test it is deleted, and none of its
// microVMs may be left.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{suite: shared, t: t, namespace: "e2e-" + rand.String(6)}
	t.Cleanup(f.close)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.namespace}}
	if _, err := f.client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Pods are refused until the namespace has its service account.
	eventually(t, "service account of "+f.namespace, func(ctx context.Context) error {
		_, err := f.client.CoreV1().ServiceAccounts(f.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return f
}

func (f *fixture) close() {
	// The test's own context has ended.
	ctx := context.Background()
	if f.t.Failed() {
		f.t.Logf("what is known of namespace %s:\n%s", f.namespace, f.describe(ctx, f.namespace))
	}
	background := metav1.DeletePropagationBackground
	var errs []error
	for _, owners := range []schema.GroupVersionResource{warmPools, sandboxClaims, sandboxes} {
		errs = append(errs, f.dynamic.Resource(owners).Namespace(f.namespace).
			DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{}))
	}
	err := errors.Join(
		errors.Join(errs...),
		f.client.CoreV1().Pods(f.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}),
	)
	if err == nil {
		err = poll(ctx, f.nothingAlive)
	}
	err = errors.Join(err, ignoreNotFound(f.client.CoreV1().Namespaces().Delete(ctx, f.namespace, metav1.DeleteOptions{})))
	if err != nil {
		f.t.Errorf("after the test, with every owner deleted: %v\n%s", err, f.describe(ctx, f.namespace))
	}
}

func (f *fixture) nothingAlive(ctx context.Context) error {
	for _, h := range f.info.Hosts {
		all, err := f.simHistory(ctx, h)
		if err != nil {
			return err
		}
		for _, vm := range all.VMs {
			if strings.HasPrefix(vm.ClaimRef, f.namespace+"/") {
				return fmt.Errorf("VM %s of %s is alive", vm.ID, vm.ClaimRef)
			}
		}
	}
	pods, err := f.client.CoreV1().Pods(f.namespace).List(ctx, metav1.ListOptions{})
	if err == nil && len(pods.Items) > 0 {
		err = fmt.Errorf("Pod %s is still there", pods.Items[0].Name)
	}
	return err
}

// waitGone waits until the Pod no longer exists.
func (f *fixture) waitGone(name string) {
	f.t.Helper()
	eventually(f.t, "end of Pod "+name, func(ctx context.Context) error {
		pod, err := f.client.CoreV1().Pods(f.namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("it is %s, with deletion time %v", pod.Status.Phase, pod.DeletionTimestamp)
	})
}

// warning waits for a Warning event about the Pod whose message contains all parts.
func (f *fixture) warning(name string, parts ...string) {
	f.t.Helper()
	eventually(f.t, "event about Pod "+name, func(ctx context.Context) error {
		events, err := f.client.CoreV1().Events(f.namespace).List(ctx, metav1.ListOptions{
			FieldSelector: "involvedObject.kind=Pod,involvedObject.name=" + name + ",type=" + corev1.EventTypeWarning,
		})
		if err != nil {
			return err
		}
		var seen []string
		for _, e := range events.Items {
			if containsAll(e.Message, parts) {
				return nil
			}
			seen = append(seen, e.Reason+": "+e.Message)
		}
		return fmt.Errorf("no warning has %q; there are %q", parts, seen)
	})
}

func containsAll(text string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(text, p) {
			return false
		}
	}
	return true
}
