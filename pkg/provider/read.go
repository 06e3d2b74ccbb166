// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"maps"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// GetPod returns the Pod with its synthetic status, from memory. A Pod whose
// successor of the same name is already in the cache is not found: answering
// with the old generation would let virtual-kubelet take the new one for
// served.
func (p *Provider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	t, ok := p.pods.get(namespace + "/" + name)
	if !ok {
		return nil, errdefs.NotFoundf("pod %s/%s is not served by this node", namespace, name)
	}
	if current, err := p.lister.Pods(namespace).Get(name); err == nil && current.UID != t.pod.UID {
		return nil, errdefs.NotFoundf("pod %s/%s of that generation is not served by this node", namespace, name)
	}
	return p.view(t), nil
}

// GetPodStatus returns the synthetic status of a Pod, from memory.
func (p *Provider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := p.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

// GetPods returns every Pod being served, from memory.
func (p *Provider) GetPods(context.Context) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	for _, t := range p.pods.all() {
		out = append(out, p.view(t))
	}
	return out, nil
}

// view is the Pod as this provider publishes it: the newest object, the status
// that the table gives it now, and the claim id. What it refers to is shared.
func (p *Provider) view(t tracked) *corev1.Pod {
	pod := *t.pod
	// The library would delete the Pod in the API if it saw this set.
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = nil, nil
	status, claimID := p.status(t)
	pod.Status = status
	if claimID != "" && pod.Annotations[podcontract.AnnotationClaimID] != claimID {
		pod.Annotations = maps.Clone(pod.Annotations)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[podcontract.AnnotationClaimID] = claimID
	}
	return &pod
}

// status is what the table gives the Pod now: its status, and its claim id if it has
// one.
func (p *Provider) status(t tracked) (status corev1.PodStatus, claimID string) {
	c, held := p.table.Get(podcontract.Key(t.pod))
	held = held && c.PodUID == t.pod.UID
	switch {
	case t.end != nil:
		e := t.end
		return podcontract.FailedStatus(t.pod, e.binding, e.reason, e.message, e.at), e.binding.ClaimID
	case held && c.State == claims.Bound && c.Durable:
		return podcontract.RunningStatus(t.pod, binding(c)), c.ID
	case held && c.State == claims.Tentative:
		// The id that the API lacks makes virtual-kubelet call UpdatePod,
		// which returns the stranded claim (Pod contract).
		return podcontract.PendingStatus(), c.ID
	}
	status = podcontract.PendingStatus()
	// A status that names a sandbox this node has no claim for is all that keeps the
	// Pod from being given another one.
	if t.waiting != "" && podcontract.PublishedClaim(t.pod) == "" {
		status.Reason, status.Message = podcontract.ReasonAwaitingClaim, t.waiting
	}
	return status, ""
}

func binding(c claims.Claim) podcontract.Binding {
	return podcontract.Binding{ClaimID: c.ID, Address: c.Address, ClaimedAt: c.ClaimedAt}
}
