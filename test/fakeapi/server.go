// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fakeapi is a fake API server for the tests of the publishers. It adds to the
// generated fake clientset what a real API server does, and failures.
package fakeapi

import (
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned/fake"
)

// NodeName is the name of the virtual node and of the published object.
const NodeName = "host-1-sandboxd"

// The UIDs of the Node before and after it is re-created.
const (
	FirstUID  types.UID = "6f1c1a52-0000-4000-8000-000000000001"
	SecondUID types.UID = "6f1c1a52-0000-4000-8000-000000000002"
)

// NoNode returns the error for a missing Node.
func NoNode() error { return apierrors.NewNotFound(corev1.Resource("nodes"), NodeName) }

// Answers are the answers of the server that replace the object. Change them through
// [Server.Change].
type Answers struct {
	// NodeUID is the UID of the Node; NodeErr is returned instead of it.
	NodeUID types.UID
	NodeErr error
	// GetErr, WatchErr and ApplyErr are what those requests fail with.
	GetErr, WatchErr, ApplyErr error
	// Discard makes applies succeed without storing anything.
	Discard bool
}

// Server holds one object. It is safe for concurrent use.
type Server struct {
	Answers
	// Client sends requests to the server.
	Client *fake.Clientset

	resource schema.GroupVersionResource
	// counted is the subresource whose applies are counted.
	counted string

	mu      sync.Mutex // guards Answers and the fields below
	applied []time.Time
	watches []*watch.RaceFreeFakeWatcher
	version int // of the object written last
}

// New returns a server without an object. It counts the applies of the subresource; an
// empty subresource is the object itself.
func New(resource schema.GroupVersionResource, subresource string) *Server {
	s := &Server{
		Client: fake.NewClientset(), resource: resource, counted: subresource,
		Answers: Answers{NodeUID: FirstUID},
	}
	s.Client.PrependReactor("get", resource.Resource, s.answerGet)
	s.Client.PrependReactor("patch", resource.Resource, s.answerPatch)
	s.Client.PrependWatchReactor(resource.Resource, s.answerWatch)
	return s
}

// Node returns the Node that owns the object.
func (s *Server) Node() (*corev1.Node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName, UID: s.NodeUID}}, s.NodeErr
}

// Change calls f, which may change the server's answers and all other guarded state.
func (s *Server) Change(f func(), others ...sync.Locker) {
	for _, l := range append(others, &s.mu) {
		l.Lock()
		defer l.Unlock()
	}
	f()
}

// Applies returns the times at which the counted applies arrived so far.
func (s *Server) Applies() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.applied)
}

// Patches returns the patches so far.
func (s *Server) Patches() []clienttesting.PatchActionImpl {
	var patches []clienttesting.PatchActionImpl
	for _, action := range s.Client.Actions() {
		if p, ok := action.(clienttesting.PatchActionImpl); ok {
			patches = append(patches, p)
		}
	}
	return patches
}

func (s *Server) answerGet(clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.GetErr != nil, nil, s.GetErr
}

// answerPatch adds behaviour that the fake clientset lacks: a subresource patch does not
// create an object, and each write gives the object the next version.
func (s *Server) answerPatch(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if action.GetSubresource() == s.counted {
		s.applied = append(s.applied, time.Now())
	}
	if s.ApplyErr != nil {
		return true, nil, s.ApplyErr
	}
	if s.Discard {
		return true, nil, nil
	}
	tracker := s.Client.Tracker()
	if action.GetSubresource() != "" {
		if _, err := tracker.Get(s.resource, "", NodeName); err != nil {
			return true, nil, err
		}
	}
	_, object, err := clienttesting.ObjectReaction(tracker)(action)
	if err != nil {
		return true, nil, err
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return true, nil, err
	}
	s.version++
	accessor.SetResourceVersion(strconv.Itoa(s.version))
	return true, object, tracker.Update(s.resource, object, "")
}
