// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/klog/v2"
)

// registration is an APIService as read from the API server.
type registration struct {
	// version is the object's resourceVersion; it changes with every edit.
	version string
	// since is the earliest time from which the object is known to have this version.
	since time.Time
	// aggregated is true if an aggregated API server serves the group and version,
	// instead of the API server's own storage.
	aggregated bool
}

// apiService reads the APIService of one group and version. Concurrent verdicts share a
// read, but only one that starts after they asked: an earlier read may be older than the
// owner's answer that it must confirm.
type apiService struct {
	name   string
	client dynamic.ResourceInterface

	mu      sync.Mutex
	known   bool
	last    registration // from the newest successful read
	next    *apiServiceRead
	reading bool
}

// apiServiceRead is one read and its waiters.
type apiServiceRead struct {
	ctx     context.Context
	cancel  context.CancelFunc // called when nobody waits any more
	waiters int
	done    chan struct{}
	got     registration
	err     error
}

// seen returns the newest registration that was read; ok is false before the first read.
func (s *apiService) seen() (r registration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last, s.known
}

// read reads the APIService. The read starts after the call.
func (s *apiService) read(ctx context.Context) (registration, error) {
	s.mu.Lock()
	if s.next == nil || s.next.waiters == 0 {
		s.next = &apiServiceRead{done: make(chan struct{})}
		// The end of one caller's context must not cancel the read for the others.
		s.next.ctx, s.next.cancel = context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	}
	r := s.next
	r.waiters++
	if !s.reading {
		s.reading = true
		go s.readAll()
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.got, r.err
	case <-ctx.Done():
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.waiters--; r.waiters == 0 {
			r.cancel()
		}
		return registration{}, ctx.Err()
	}
}

// readAll reads until nobody waits.
func (s *apiService) readAll() {
	for {
		s.mu.Lock()
		r := s.next
		s.next = nil
		if s.reading = r != nil; !s.reading {
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		r.got, r.err = s.get(r.ctx)
		r.cancel()
		close(r.done)
	}
}

func (s *apiService) get(ctx context.Context) (registration, error) {
	obj, err := s.client.Get(ctx, s.name, metav1.GetOptions{})
	if err != nil {
		return registration{}, fmt.Errorf("read the APIService %s; grant this account get on it: %w", s.name, err)
	}
	spec, found, err := unstructured.NestedMap(obj.Object, "spec")
	if err != nil || !found || obj.GetName() != s.name {
		return registration{}, fmt.Errorf("read the APIService %s: %w", s.name, errNoAPIService)
	}
	got := registration{version: obj.GetResourceVersion(), aggregated: spec["service"] != nil}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.known:
		got.since = obj.GetCreationTimestamp().Time
	case s.last.version == got.version:
		got.since = s.last.since
	default:
		got.since = time.Now()
	}
	if got.aggregated != s.last.aggregated {
		s.log(ctx, got.aggregated)
	}
	s.known, s.last = true, got
	return got, nil
}

var errNoAPIService = errors.New("the answer is not that object")

// log logs that an aggregated API server has started or stopped serving the group.
func (s *apiService) log(ctx context.Context, aggregated bool) {
	if aggregated {
		klog.FromContext(ctx).Info("An aggregated API server answers for owners of this group and version; their sandboxes are kept until its APIService is gone", "apiService", s.name)
		return
	}
	klog.FromContext(ctx).Info("Owners of this group and version are read from the API server's own storage again", "apiService", s.name)
}
