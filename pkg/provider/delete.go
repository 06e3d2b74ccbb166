// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// DeletePod decides over the claim of a Pod that is going away. The deletion itself
// authorises nothing: the Pod's owner is read, and only its state releases the
// sandbox (architecture, "Delete authorization"). Nil means decided: released, kept
// for the owner with the credential in the table, or left to the owner re-check
// because nobody saw the deletion. On error the Pod and the credential are kept,
// and virtual-kubelet tries again.
//
// A request for an older generation of the Pod is ignored.
func (p *Provider) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	defer p.keys.lock(podcontract.Key(pod))()
	return p.finishDelete(podContext(ctx, pod), pod)
}

// finishDelete is DeletePod with the key held.
func (p *Provider) finishDelete(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	t, tracked := p.pods.get(key)
	if tracked && t.pod.UID != pod.UID {
		klog.FromContext(ctx).Info("ignoring the deletion of an older pod of this name", "servedPodUID", t.pod.UID)
		return nil
	}
	last, known := p.lastState(pod, t)
	if err := p.decideClaim(ctx, last, known, t); err != nil {
		return err
	}
	if !t.removed {
		p.pods.remove(key)
		p.removeFromAPI(ctx, last.final)
	}
	return nil
}

// lastState is how a Pod goes away: its newest object, whose owner decides, and
// whether its deletion was seen. known is false for a Pod that left unobserved or was
// decided before: the object that virtual-kubelet hands over can be older than the
// last change of its owner.
func (p *Provider) lastState(pod *corev1.Pod, t tracked) (last departure, known bool) {
	switch cached := p.cachedPod(podcontract.Key(pod), pod.UID); {
	case cached != nil:
		return departure{final: cached, seen: true}, true
	case t.gone != nil:
		return *t.gone, true
	default:
		return departure{final: pod}, false
	}
}

// decideClaim decides over the claim of a Pod that is going away.
func (p *Provider) decideClaim(ctx context.Context, last departure, known bool, t tracked) error {
	pod := last.final
	c, held := p.table.Get(podcontract.Key(pod))
	if !held || c.PodUID != pod.UID {
		// The Pod holds no claim. One that another Pod left under this name
		// is judged by its own owner, not by this deletion.
		p.endDeleted(pod, t, nil)
		return nil
	}
	if c.State == claims.Tentative {
		if err := p.returnClaim(ctx, c); err != nil {
			return err
		}
		p.endDeleted(pod, t, nil)
		return nil
	}
	owner := controllerOf(pod)
	if !known {
		owner = c.Controller
	}
	if c.State == claims.Preserved && claims.SameOwner(c.Owner, owner) {
		p.endDeleted(pod, t, &c) // decided before
		return nil
	}
	if known {
		p.follow(ctx, pod, c)
	}
	d := p.readVerdict(ctx, c, owner)
	switch {
	case !d.Release:
		if err := p.table.Preserve(c.Key, c.ID, owner); err != nil {
			return notDurable(err)
		}
		klog.FromContext(ctx).WithValues(d.Attrs()...).Info("pod is gone, its sandbox is preserved", "claim", c.ID)
		p.recordPreserved(c, d)
		p.rechecks.schedule(c)
		if last.seen {
			p.rechecks.deletionSeen(c)
		}
		p.rechecks.alive(c, d, p.podLists())
	case !last.seen:
		klog.FromContext(ctx).Info("pod is gone and nobody saw its deletion; its owner is read again before its sandbox is released", "claim", c.ID, "reason", d.Reason)
		p.rechecks.schedule(c)
	default:
		return p.releaseAuthorised(ctx, pod, c, d, t)
	}
	p.endDeleted(pod, t, &c)
	return nil
}

// readVerdict reads the object that decides over the claim: the controller owner,
// or for a bare Pod the Pod itself.
func (p *Provider) readVerdict(ctx context.Context, c claims.Claim, owner *claims.Owner) ownership.Decision {
	pod := podName(c.Key)
	if owner == nil {
		return p.owners.Pod(ctx, pod.Namespace, pod.Name, c.PodUID)
	}
	return p.owners.Owner(ctx, pod.Namespace, *owner)
}

// releaseAuthorised destroys the sandbox of a deleted Pod. While the node answers
// that it does not know the id, and that is not sure yet, and while another claim
// has the sandbox, the release queue takes the claim over and the Pod may go.
func (p *Provider) releaseAuthorised(ctx context.Context, pod *corev1.Pod, c claims.Claim, d ownership.Decision, t tracked) error {
	gone := false
	if p.table.Holders(c.ID) == 1 {
		var err error
		if gone, err = p.destroy(ctx, c); err != nil {
			return err
		}
	}
	if gone {
		p.forget(ctx, c)
	} else {
		p.withdraw(ctx, c)
	}
	klog.FromContext(ctx).Info("released the sandbox", "claim", c.ID, "reason", d.Reason, "confirmed", gone)
	p.recordReleased(c, d.Reason)
	p.endDeleted(pod, t, &c)
	return nil
}

// endDeleted ends a Pod whose claim is decided. A Pod that has left the API is
// dropped. One that a finalizer keeps there becomes terminal, because its address
// is no longer its own; the object of any other is about to be removed, and a
// status of it would be one write too many.
func (p *Provider) endDeleted(pod *corev1.Pod, t tracked, c *claims.Claim) {
	key := podcontract.Key(pod)
	if pod.DeletionTimestamp == nil || !p.inCache(pod) {
		p.pods.drop(key)
		return
	}
	if t.end == nil {
		e := ending{binding: publishedBinding(pod), reason: podcontract.ReasonDeleted, message: messageDeleted, at: time.Now(), deleted: true}
		if c != nil {
			e.binding = binding(*c)
		}
		p.pods.track(pod)
		p.pods.end(key, e)
	}
	ended, ok := p.pods.get(key)
	if !ok || len(pod.Finalizers) == 0 {
		return
	}
	// What the API shows already is not published again: its answer would bring
	// this Pod here again.
	if status, claimID := p.status(ended); !published(pod, status, claimID) {
		p.touch(key)
	}
}

// inCache reports whether the Pod cache has the Pod.
func (p *Provider) inCache(pod *corev1.Pod) bool {
	return p.cachedPod(podcontract.Key(pod), pod.UID) != nil
}

const messageDeleted = "the pod was deleted; its sandbox is no longer its own"

// removeFromAPI takes a Pod whose claim is decided out of the API at once. Without
// it virtual-kubelet waits for the whole grace period, and a replacement of the
// same name with it.
func (p *Provider) removeFromAPI(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil || !p.inCache(pod) {
		return
	}
	err := p.podClient.Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "a deleted pod could not be removed; it goes when its grace period ends")
	}
}
