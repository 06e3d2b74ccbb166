// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// checkNode makes one claim on the node and waits for its release.
func (r *run) checkNode(ctx context.Context, node string) (err error) {
	pod := r.pod(node)
	gone := false
	defer func() {
		if !gone {
			err = errors.Join(err, r.cleanUp(ctx, node, pod.Name))
		}
	}()
	if _, err := r.Client.CoreV1().Pods(r.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create Pod %s/%s: %w; next: check that this account may create Pods in the namespace, and that no quota or policy forbids it",
			r.Namespace, pod.Name, err)
	}
	r.printf("%s: created Pod %s/%s", node, r.Namespace, pod.Name)
	claim, err := r.waitRunning(ctx, node, pod.Name)
	if err != nil {
		return err
	}
	shown, err := r.waitShown(ctx, node, claim)
	if err != nil {
		return err
	}
	// Delete the Pod like any other: the node removes it once its sandbox is destroyed.
	err = r.Client.CoreV1().Pods(r.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete Pod %s/%s: %w; next: delete it by hand", r.Namespace, pod.Name, err)
	}
	if err := r.waitGone(ctx, node, pod.Name); err != nil {
		return err
	}
	gone = true
	if shown {
		return r.waitReleased(ctx, node, claim)
	}
	return nil
}

// waitRunning waits until the Pod shows its claim, and returns the claim's id.
func (r *run) waitRunning(ctx context.Context, node, name string) (claim string, err error) {
	s := step{node: node, wanted: "running sandbox of template " + r.Template, next: fmt.Sprintf(
		"read the reason; choose another template, net or size where sandboxd refuses them%s; "+
			"anything else is in the log of the node's daemon and in the conditions of kubectl describe node %s", hint(r.AxesHint), node)}
	err = r.await(ctx, s, func(ctx context.Context) (observation, error) {
		pod, err := r.Client.CoreV1().Pods(r.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && pod.DeletionTimestamp != nil:
			return observation{}, ended{fmt.Errorf("somebody has deleted Pod %s/%s", r.Namespace, name)}
		case err != nil:
			return observation{}, err
		case pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded:
			return observation{}, ended{fmt.Errorf("its Pod %s/%s has ended: %s", r.Namespace, name, describe(pod))}
		}
		claim = pod.Annotations[podcontract.AnnotationClaimID]
		if pod.Status.Phase != corev1.PodRunning || claim == "" || pod.Status.PodIP == "" {
			return observation{state: describe(pod)}, nil
		}
		r.printf("%s: Running at %s with claim %s", node, pod.Status.PodIP, claim)
		return observation{done: true}, nil
	})
	return claim, err
}

// describe describes why the Pod is not running.
func describe(pod *corev1.Pod) string {
	parts := []string{string(pod.Status.Phase)}
	for _, text := range []string{pod.Status.Reason, pod.Status.Message} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			parts = append(parts, c.Reason, c.Message)
		}
	}
	switch {
	case pod.Status.Phase != corev1.PodRunning:
	case pod.Status.PodIP == "":
		parts = append(parts, "without an address")
	case pod.Annotations[podcontract.AnnotationClaimID] == "":
		parts = append(parts, "without a claim id")
	}
	return strings.Join(parts, ": ")
}

func (r *run) waitGone(ctx context.Context, node, name string) error {
	s := step{node: node, wanted: "end of the deleted Pod", next: fmt.Sprintf(
		"the node lets a Pod go when its sandbox is destroyed; the log of its daemon and kubectl -n %s describe pod %s say what keeps it", r.Namespace, name)}
	err := r.await(ctx, s, func(ctx context.Context) (observation, error) {
		_, err := r.Client.CoreV1().Pods(r.Namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return observation{done: true}, nil
		}
		return observation{state: "it is still there"}, err
	})
	if err == nil {
		r.printf("%s: Pod %s/%s is deleted and gone", node, r.Namespace, name)
	}
	return err
}
