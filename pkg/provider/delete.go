// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// DeletePod settles a Pod that is going away. The deletion itself authorises
// nothing: the Pod's owner is read, and only its state releases the sandbox
// (architecture, "Delete authorization"). Nil means settled: released, or
// preserved for the owner with the credential in the table. On error the Pod
// and the credential are kept, and virtual-kubelet tries again.
//
// A request for an older generation of the Pod is ignored.
func (p *Provider) DeletePod(ctx context.Context, pod *corev1.Pod) error {
	ctx = podContext(ctx, pod)
	settled, err := p.settleLocked(ctx, pod)
	if err == nil && settled {
		p.removeFromAPI(ctx, pod)
	}
	return err
}

func (p *Provider) settleLocked(ctx context.Context, pod *corev1.Pod) (settled bool, err error) {
	key := podcontract.Key(pod)
	defer p.keys.lock(key)()
	if t, ok := p.pods.get(key); ok && t.pod.UID != pod.UID {
		klog.FromContext(ctx).Info("ignoring the deletion of an older pod of this name", "servedPodUID", t.pod.UID)
		return false, nil
	}
	return true, p.settle(ctx, pod)
}

// settle is DeletePod with the key held and the generation checked.
func (p *Provider) settle(ctx context.Context, pod *corev1.Pod) error {
	key := podcontract.Key(pod)
	c, held := p.table.Get(key)
	if !held || c.PodUID != pod.UID {
		// The Pod holds no claim. One that another Pod left under this name
		// is judged by its own owner, not by this deletion.
		p.pods.drop(key)
		return nil
	}
	if c.State == claims.Tentative {
		if err := p.giveBack(ctx, c); err != nil {
			return err
		}
		p.pods.drop(key)
		return nil
	}
	owner := controllerOf(pod)
	d := p.judge(ctx, c, owner)
	if !d.Release {
		if err := p.table.Preserve(key, c.ID, owner); err != nil {
			return notDurable(err)
		}
		klog.FromContext(ctx).WithValues(d.Attrs()...).Info("pod is gone, its sandbox is preserved", "claim", c.ID)
		p.recordPreserved(c, d)
		p.rechecks.schedule(c)
		p.pods.drop(key)
		return nil
	}
	return p.releaseAuthorised(ctx, c, d)
}

// judge reads the object that decides over the claim: the controller owner, or
// for a bare Pod the Pod itself.
func (p *Provider) judge(ctx context.Context, c claims.Claim, owner *claims.Owner) ownership.Decision {
	namespace, name, _ := strings.Cut(c.Key, "/")
	if owner == nil {
		return p.owners.Pod(ctx, namespace, name, c.PodUID)
	}
	return p.owners.Owner(ctx, namespace, *owner)
}

// releaseAuthorised destroys the sandbox of a Pod that is being settled. While
// the node answers that it does not know the id, and that is not yet sure, the
// release queue takes the claim over and the Pod may go.
func (p *Provider) releaseAuthorised(ctx context.Context, c claims.Claim, d ownership.Decision) error {
	gone, err := p.destroy(ctx, c)
	if err != nil {
		return err
	}
	if gone {
		p.forget(ctx, c)
	} else {
		p.withdraw(ctx, c)
	}
	klog.FromContext(ctx).Info("released the sandbox", "claim", c.ID, "reason", d.Reason, "confirmed", gone)
	p.recordReleased(c, d.Reason)
	p.pods.drop(c.Key)
	return nil
}

// removeFromAPI takes a settled Pod out of the API at once. Without it
// virtual-kubelet waits for the whole grace period, and a replacement of the
// same name with it.
func (p *Provider) removeFromAPI(ctx context.Context, pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		return
	}
	err := p.podClient.Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "a settled pod could not be removed; it goes when its grace period ends")
	}
}
