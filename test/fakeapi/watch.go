// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"errors"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
)

// answerWatch records the tracker's watches, so that they can be ended. It refuses a watch
// on more than the one object, and a watch from a version, which a restored API server
// may not have.
func (s *Server) answerWatch(action clienttesting.Action) (bool, watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.WatchErr != nil {
		return true, nil, s.WatchErr
	}
	options := action.(clienttesting.WatchActionImpl).ListOptions
	if options.FieldSelector != "metadata.name="+NodeName {
		return true, nil, errors.New("a watch on more than the one object: " + options.FieldSelector)
	}
	if options.ResourceVersion != "" {
		return true, nil, errors.New("a watch from a version that the API server may not have: " + options.ResourceVersion)
	}
	w, err := s.Client.Tracker().Watch(s.resource, "", options)
	if err == nil {
		s.watches = append(s.watches, w.(*watch.RaceFreeFakeWatcher))
	}
	return true, w, err
}

// EndWatches ends all watches, as an API server does at times.
func (s *Server) EndWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.watches {
		w.Stop()
	}
	s.watches = nil
}

// Delete deletes the object as another client.
func (s *Server) Delete(t *testing.T) {
	t.Helper()
	if err := s.Client.Tracker().Delete(s.resource, "", NodeName); err != nil {
		t.Fatal(err)
	}
}

// Restore replaces the object with that of a backup; nil for none. Versions continue from
// the backup's, and no watch reports the change. Call it inside a synctest bubble.
func (s *Server) Restore(t *testing.T, object runtime.Object) {
	t.Helper()
	s.EndWatches()
	synctest.Wait()
	s.Delete(t)
	s.mu.Lock()
	s.version = 1
	s.mu.Unlock()
	if object == nil {
		return
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		t.Fatal(err)
	}
	accessor.SetResourceVersion("1")
	if err := s.Client.Tracker().Add(object); err != nil {
		t.Fatal(err)
	}
}
