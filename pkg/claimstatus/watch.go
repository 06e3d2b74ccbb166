// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// watchSpread is the part of half an interval by which the pause between two
// watches may be longer.
const watchSpread = 0.8

// startWatch starts the watch, the first time that it is called.
func (s *source) startWatch(ctx context.Context) {
	s.watchOnce.Do(func() { s.watching.Go(func() { s.watch(ctx) }) })
}

// watch keeps a watch on the object until ctx ends. One that ended is started
// again before an interval is over, at times that differ between nodes, and just
// as often while it fails: the first answer of an API server that is back, maybe
// with the state of a backup, comes by this way.
func (s *source) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := s.watchUntilEnd(ctx)
		if ctx.Err() != nil {
			return
		}
		delay := wait.Jitter(s.config.Interval/2, watchSpread)
		klog.FromContext(ctx).V(2).Info("The watch on the claim status has ended; it is started again", "after", delay, "err", err)
		publish.Sleep(ctx, delay)
	}
}

// watchUntilEnd passes on each sight of the object until the watch ends. The object
// is read as well, once the watch stands, or when it cannot be had: an object
// that was deleted in between is not told of by either alone. The watch starts at
// the present state and not at a version that was seen: an API server that was
// restored may not have come to that version yet, or have it for another state.
func (s *source) watchUntilEnd(ctx context.Context) error {
	w, watchErr := s.config.Client.Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, s.config.NodeName).String(),
	})
	if watchErr == nil {
		defer w.Stop()
	}
	object, err := s.config.Client.Get(ctx, s.config.NodeName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		s.tell(ctx, sight{gone: true})
	case err != nil:
		return err
	default:
		s.tell(ctx, sight{object: object})
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
			s.tell(ctx, sight{object: object, gone: event.Type == watch.Deleted})
		}
	}
}

func (s *source) tell(ctx context.Context, seen sight) {
	select {
	case <-ctx.Done():
	case s.seen <- seen:
	}
}
