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

// watchSpread is the jitter of the pause between two watches, as a fraction of half an
// interval.
const watchSpread = 0.8

// startWatch starts the watch on its first call.
func (s *source) startWatch(ctx context.Context) {
	s.watchOnce.Do(func() { s.watching.Go(func() { s.watch(ctx) }) })
}

// watch watches the object until ctx ends. A watch that has ended or fails is started
// again before an interval is over, at times that differ between nodes. It is also the
// first to hear from an API server that is reachable again, possibly with the state of a
// backup.
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

// watchUntilEnd sends each observation of the object until the watch ends. The object is
// also read, once the watch has started or failed: neither alone shows an object that was
// deleted in between. The watch starts at the present state, not at a known version: a
// restored API server may not have that version yet, or may have it for other content.
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
		s.send(ctx, observation{gone: true})
	case err != nil:
		return err
	default:
		s.send(ctx, observation{object: object})
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
			s.send(ctx, observation{object: object, gone: event.Type == watch.Deleted})
		}
	}
}

func (s *source) send(ctx context.Context, seen observation) {
	select {
	case <-ctx.Done():
	case s.seen <- seen:
	}
}
