// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// CreatePod serves a Pod: by the claim it holds already, by adopting the one
// that its authority left, or by a new one. Nil means that the Pod is served,
// that it has ended, or that it is tracked and will be served once the node has
// answered for its claim. On error no claim counts, and virtual-kubelet tries
// again.
func (p *Provider) CreatePod(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	defer p.keys.lock(key)()
	err := p.serve(podContext(ctx, pod), pod)
	p.attempts.byLibrary(key, pod.UID, err, time.Now())
	return err
}

// serve is CreatePod with the key held.
func (p *Provider) serve(ctx context.Context, pod *corev1.Pod) error {
	if p.terminated(pod) {
		// Its status never changes again, so a claim would serve nobody.
		return nil
	}
	err := p.serveClaim(ctx, pod)
	if errors.Is(err, errAwaitingNode) {
		// Failing the create would have virtual-kubelet overwrite the status
		// of a Pod that is probably running. It stays as it is until sandboxd
		// has answered.
		klog.FromContext(ctx).Info("pod waits for sandboxd to answer for its claim")
		p.pods.track(pod)
		return nil
	}
	if err != nil {
		if c, held := p.table.Get(podcontract.Key(pod)); !held || c.State != claims.Tentative {
			p.pods.drop(podcontract.Key(pod))
		}
		p.recordRefused(pod, err)
		return err
	}
	p.touch(podcontract.Key(pod))
	return nil
}

// terminated reports whether the API has the Pod in a terminal phase, by the
// object given or by the newest that is known: virtual-kubelet retries a create
// with the object of its cache, which can be older than the failure it wrote.
func (p *Provider) terminated(pod *corev1.Pod) bool {
	if terminal(pod) {
		return true
	}
	newest := p.cachedPod(podcontract.Key(pod), pod.UID)
	return newest != nil && terminal(newest)
}

// serveClaim finds or makes the Pod's claim and tracks the Pod.
func (p *Provider) serveClaim(ctx context.Context, pod *corev1.Pod) error {
	c, held := p.table.Get(podcontract.Key(pod))
	if held && c.State == claims.Tentative {
		if err := p.returnClaim(ctx, c); err != nil {
			p.pods.track(pod)
			return err
		}
		held = false
	}
	if held && c.PodUID == pod.UID {
		// What it asked for was decided when it was claimed: an annotation
		// that was edited since does not take it down.
		return p.serveHeld(ctx, pod, c)
	}
	if err := podcontract.CheckRuntime(pod); err != nil && podcontract.PublishedClaim(pod) == "" {
		return err
	}
	switch {
	case !held:
		return p.serveNew(ctx, pod, nil)
	case !c.AdoptableBy(p.holder(pod)):
		klog.FromContext(ctx).Info("the claim under this name belongs to another owner; claiming anew", "displaced", c.ID)
		if !p.rechecks.watched(c, p.podLists()) {
			p.missing.displace(c.ID, time.Now())
		}
		return p.serveNew(ctx, pod, &c)
	default:
		return p.serveKept(ctx, pod, c)
	}
}

// serveHeld serves a Pod by the claim that names it.
func (p *Provider) serveHeld(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	switch {
	case c.State == claims.Quarantined:
		return errAwaitingNode
	case c.Expired(time.Now()):
		return p.serveExpired(ctx, pod, c)
	default:
		return p.adopt(ctx, pod, c)
	}
}

// serveKept lets a Pod adopt the claim that another Pod of its authority left.
// sandboxd is asked for the sandbox first, which can have ended before its lease
// while nobody used it. What is gone is replaced, and the release queue keeps its
// credential until that is certain.
func (p *Provider) serveKept(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	if id := podcontract.PublishedClaim(pod); id != "" && id != c.ID {
		return p.serveLost(ctx, pod, id) // it ran on another one, as before the restore of a backup
	}
	_, err := p.sandboxd.Get(ctx, c.ID)
	gone := false
	if sandboxd.ClassOf(err) == sandboxd.NotFound {
		gone, err = p.confirmGone(ctx, c)
	}
	switch {
	case err != nil:
		return errAwaitingNode
	case gone:
		klog.FromContext(ctx).Info("the sandbox that was kept for this pod is gone; claiming anew", "claim", c.ID, "deadline", c.Deadline)
		p.record(subjectOfPod(pod), corev1.EventTypeWarning, podcontract.ReasonLost, messageKeptLost)
		return p.serveNew(ctx, pod, &c)
	case c.State == claims.Quarantined:
		return errAwaitingNode // the verification loop confirms it
	default:
		return p.adopt(ctx, pod, c)
	}
}

// adopt binds an existing claim to the Pod: the same VM, no second claim.
func (p *Provider) adopt(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	if holder := p.holder(pod); !c.HeldBy(holder) || c.State != claims.Bound || !c.Durable {
		err := p.table.Bind(c.Key, c.ID, holder)
		held := c.PodUID == pod.UID && c.Durable
		if err != nil && !held {
			return notDurable(err)
		}
		if err != nil {
			// The Pod holds the claim by the file as it is. Failing here
			// would take a running Pod down because a disk is full.
			klog.FromContext(ctx).Error(err, "what changed about the pod's owner is not in the claims file yet", "claim", c.ID)
		}
	}
	if c.PodUID != pod.UID || c.State == claims.Preserved {
		klog.FromContext(ctx).Info("pod adopted its claim", "claim", c.ID, "previousPodUID", c.PodUID)
		p.record(subjectOfPod(pod), corev1.EventTypeNormal, eventAdopted, messageAdopted)
	}
	p.rechecks.forget(c.Key)
	p.pods.track(pod)
	return nil
}

// serveExpired decides over a Pod's claim whose cached lease has passed. The node
// is asked first: leases move (architecture, "Leases").
func (p *Provider) serveExpired(ctx context.Context, pod *corev1.Pod, c claims.Claim) error {
	gone, err := p.confirmGone(ctx, c)
	switch {
	case err != nil:
		return errAwaitingNode
	case !gone:
		return p.adopt(ctx, pod, c)
	default:
		p.pods.track(pod)
		p.endPod(ctx, c)
		return nil
	}
}

// serveNew claims a new sandbox, unless the Pod has been published as running
// on one that this node has no claim for: a VM that was lost must not be
// replaced under the same Pod without a word.
func (p *Provider) serveNew(ctx context.Context, pod *corev1.Pod, displaced *claims.Claim) error {
	if id := podcontract.PublishedClaim(pod); id != "" {
		return p.serveLost(ctx, pod, id)
	}
	return p.claim(ctx, pod, displaced)
}

// serveLost ends a Pod whose sandbox is confirmed gone.
func (p *Provider) serveLost(ctx context.Context, pod *corev1.Pod, id string) error {
	gone, err := p.confirmGone(ctx, claims.Claim{Key: podcontract.Key(pod), Row: claims.Row{ID: id}, State: claims.Quarantined})
	if err != nil {
		return errAwaitingNode
	}
	if !gone {
		klog.FromContext(ctx).Error(nil, "a sandbox of this pod is alive and its release credential is not in the claims table; it runs until its lease ends", "claim", id)
		return errNoCredential
	}
	p.pods.track(pod)
	p.pods.end(podcontract.Key(pod), ending{binding: publishedBinding(pod), reason: podcontract.ReasonLost, message: messageLost, at: time.Now()})
	klog.FromContext(ctx).Info("pod ended: the node no longer holds its sandbox", "claim", id, "reason", podcontract.ReasonLost)
	p.record(subjectOfPod(pod), corev1.EventTypeWarning, podcontract.ReasonLost, messageLost)
	return nil
}

var (
	// errAwaitingNode means that only sandboxd can tell, and that it has not.
	errAwaitingNode = errors.New("waiting for sandboxd to say whether it still holds the sandbox")
	errNoCredential = errors.New("the node still runs a sandbox for this pod, but its claims table does not hold the release credential; restore the table, or delete the sandbox on the node")
)

// holder is the Pod as the table is to know its holder: by its newest object, which
// has who controls it now. The one that virtual-kubelet hands over can be older.
func (p *Provider) holder(pod *corev1.Pod) claims.Holder {
	key := podcontract.Key(pod)
	if cached := p.cachedPod(key, pod.UID); cached != nil {
		return holderOf(cached)
	}
	if t, ok := p.pods.get(key); ok && t.gone != nil && t.pod.UID == pod.UID {
		return holderOf(t.gone.final)
	}
	return holderOf(pod)
}

// holderOf is the Pod as the table knows holders.
func holderOf(pod *corev1.Pod) claims.Holder {
	return claims.Holder{PodUID: pod.UID, Controller: controllerOf(pod)}
}

// controllerOf is the Pod's controller owner; nil for a bare Pod.
func controllerOf(pod *corev1.Pod) *claims.Owner {
	ref := metav1.GetControllerOfNoCopy(pod)
	if ref == nil {
		return nil
	}
	return &claims.Owner{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID}
}

// publishedBinding is the binding that the Pod's own status shows.
func publishedBinding(pod *corev1.Pod) podcontract.Binding {
	return podcontract.Binding{ClaimID: podcontract.PublishedClaim(pod), Address: pod.Status.PodIP, ClaimedAt: startOf(pod)}
}

func startOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// podContext names the Pod in whatever is logged under the context.
func podContext(ctx context.Context, pod *corev1.Pod) context.Context {
	return klog.NewContext(ctx, klog.FromContext(ctx).WithValues("pod", klog.KObj(pod), "podUID", pod.UID))
}

var _ Sandboxd = (*sandboxd.Client)(nil)
