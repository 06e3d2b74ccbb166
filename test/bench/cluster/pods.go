// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// Sandboxes is the resource of the Pods' owners.
var Sandboxes = schema.GroupVersionResource{Group: "agents.x-k8s.io", Version: "v1beta1", Resource: "sandboxes"}

// AtOnce is how many requests the bench has in flight when it creates and
// deletes: enough for the control plane to be the limit.
const AtOnce = 32

// each does something n times, some at once.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(AtOnce)
	for i := range n {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// PodName is the name of one Pod in a burst. A Pod of KWOK's does not survive that an
// earlier one of its name was deleted just before.
func PodName(burst, i int) string { return fmt.Sprintf("agent-%d-%05d", burst, i) }

// ownerName is the name of the Sandbox that owns one Pod of a burst.
func ownerName(burst, i int) string { return fmt.Sprintf("owner-%d-%05d", burst, i) }

// CreateOwners makes a Sandbox for each Pod, and returns when the controller has seen all
// of them, before the clock starts. They are suspended and have other names than their
// Pods, so the controller creates no Pod and leaves those of the bench alone.
func (c *Cluster) CreateOwners(ctx context.Context, n int) ([]*unstructured.Unstructured, error) {
	c.bursts++
	owners := make([]*unstructured.Unstructured, n)
	err := each(ctx, n, func(ctx context.Context, i int) (err error) {
		container := map[string]any{"name": "agent", "image": Template}
		owner := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": Sandboxes.GroupVersion().String(), "kind": "Sandbox",
			"metadata": map[string]any{"name": ownerName(c.bursts, i)},
			"spec": map[string]any{
				"operatingMode": "Suspended",
				"podTemplate":   map[string]any{"spec": map[string]any{"containers": []any{container}}},
			},
		}}
		owners[i], err = c.dynamic.Resource(Sandboxes).Namespace(Name).Create(ctx, owner, metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	return owners, Poll(ctx, 200*time.Millisecond, c.allSuspended)
}

func (c *Cluster) allSuspended(ctx context.Context) error {
	list, err := c.dynamic.Resource(Sandboxes).Namespace(Name).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if !conditionTrue(&list.Items[i], "Suspended") {
			return fmt.Errorf("the Sandbox %s is not suspended", list.Items[i].GetName())
		}
	}
	return nil
}

// CreatePods makes the Pods that a controller would make for the owners, for
// the scheduler to place on the node, each when it is admitted.
func (c *Cluster) CreatePods(ctx context.Context, owners []*unstructured.Unstructured, node string, admit func(context.Context) error) error {
	return each(ctx, len(owners), func(ctx context.Context, i int) error {
		if err := admit(ctx); err != nil {
			return err
		}
		_, err := c.Client.CoreV1().Pods(Name).Create(ctx, newOwnedPod(PodName(c.bursts, i), owners[i], node), metav1.CreateOptions{})
		return err
	})
}

func newOwnedPod(name string, owner *unstructured.Unstructured, node string) *corev1.Pod {
	pod := newPod(name, node)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
	return pod
}

func newPod(name, node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name,
			Annotations: map[string]string{
				podcontract.AnnotationRuntime:  podcontract.RuntimeSandboxd,
				podcontract.AnnotationTemplate: Template,
			},
		},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{podcontract.LabelRuntime: podcontract.RuntimeSandboxd, corev1.LabelHostname: node},
			Tolerations: []corev1.Toleration{{
				Key: podcontract.TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
			}},
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "agent", Image: Template}},
		},
	}
}

// DeleteOwners returns when none is left.
func (c *Cluster) DeleteOwners(ctx context.Context, n int) error {
	background := metav1.DeletePropagationBackground
	return each(ctx, n, func(ctx context.Context, i int) error {
		return c.dynamic.Resource(Sandboxes).Namespace(Name).Delete(ctx, ownerName(c.bursts, i), metav1.DeleteOptions{PropagationPolicy: &background})
	})
}

// DeletePods asks for the end of the Pods, with the grace period of users.
func (c *Cluster) DeletePods(ctx context.Context, n int) error {
	return each(ctx, n, func(ctx context.Context, i int) error {
		return ignoreNotFound(c.Client.CoreV1().Pods(Name).Delete(ctx, PodName(c.bursts, i), metav1.DeleteOptions{}))
	})
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Template is what every claim asks for.
const Template = "ghcr.io/cocoonstack/sandbox/rt:24.04"
