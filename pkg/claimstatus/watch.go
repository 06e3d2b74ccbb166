// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// watch keeps a watch on the object until ctx ends. One that ended is started
// again after an interval, and after growing times while it fails.
func (p *Publisher) watch(ctx context.Context) {
	delay := p.config.Interval
	for ctx.Err() == nil {
		err := p.watchOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			delay = p.config.Interval
		}
		klog.FromContext(ctx).V(2).Info("The watch on the claim status has ended; it is started again", "after", delay, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait.Jitter(delay, jitter)):
		}
		delay = min(2*delay, max(maxRetry, p.config.Interval))
	}
}

// watchOnce passes on each sight of the object until the watch ends. The object
// is read as well, once the watch stands, or when it cannot be had: an object
// that was deleted in between is not told of by either alone.
func (p *Publisher) watchOnce(ctx context.Context) error {
	w, watchErr := p.config.Client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, p.config.NodeName).String(),
	})
	if watchErr == nil {
		defer w.Stop()
	}
	object, err := p.config.Client.Get(ctx, p.config.NodeName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		p.tell(ctx, sight{gone: true})
	case err != nil:
		return err
	default:
		p.tell(ctx, sight{object: object})
	}
	if watchErr != nil {
		return watchErr
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-w.ResultChan():
			if !open {
				return nil
			}
			object, ok := event.Object.(*api.NodeClaimStatus)
			if !ok {
				return apierrors.FromObject(event.Object)
			}
			p.tell(ctx, sight{object: object, gone: event.Type == watch.Deleted})
		}
	}
}

func (p *Publisher) tell(ctx context.Context, s sight) {
	select {
	case <-ctx.Done():
	case p.seen <- s:
	}
}
