// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
)

// serveCollection lists a resource or watches it.
func (s *Server) serveCollection(w http.ResponseWriter, r *request) {
	query := r.URL.Query()
	selector, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		fail(w, err)
		return
	}
	selected := func(o Object) bool {
		inNamespace := r.namespace == "" || r.namespace == o.GetNamespace()
		return inNamespace && selector.Matches(fieldsOf{o})
	}
	if query.Get("watch") == "true" || query.Get("watch") == "1" {
		s.watch(w, r, selected)
		return
	}
	objects, revision := s.snapshot(r.kind.resource, selected)
	list := &unstructured.UnstructuredList{Object: map[string]any{}}
	list.SetAPIVersion(r.kind.GroupVersion().String())
	list.SetKind(r.kind.Kind + "List")
	list.SetResourceVersion(strconv.FormatInt(revision, 10))
	for _, o := range objects {
		list.Items = append(list.Items, *o)
	}
	write(w, http.StatusOK, list)
}

func (s *Server) snapshot(resource string, selected func(Object) bool) ([]Object, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Object
	for _, o := range s.list(resource) {
		if selected(o) {
			out = append(out, o)
		}
	}
	return out, s.revision
}

// watch streams changes until the client goes. With sendInitialEvents what
// there is comes first, and then a bookmark that says so.
func (s *Server) watch(w http.ResponseWriter, r *request, selected func(Object) bool) {
	from, err := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64)
	var first []Object
	initial := r.URL.Query().Get("sendInitialEvents") == "true"
	if initial || err != nil || from == 0 {
		first, from = s.snapshot(r.kind.resource, selected)
	}
	if _, _, _, err := s.since(r.kind.resource, from); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := json.NewEncoder(w)
	send := func(how watch.EventType, o Object) bool {
		return out.Encode(map[string]any{"type": how, "object": o}) == nil
	}
	for _, o := range first {
		if !send(watch.Added, o) {
			return
		}
	}
	if initial && !send(watch.Bookmark, bookmark(r.kind, from)) {
		return
	}
	for {
		changes, revision, moved, err := s.since(r.kind.resource, from)
		if err != nil {
			return // it has fallen too far behind, and begins again
		}
		for _, c := range changes {
			if selected(c.object) && !send(c.kind, c.object) {
				return
			}
		}
		from = revision
		if http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-moved:
		}
	}
}

func bookmark(k kind, revision int64) Object {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(k.GroupVersionKind)
	o.SetResourceVersion(strconv.FormatInt(revision, 10))
	o.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return o
}

// fieldsOf is an object as field selectors see it.
type fieldsOf struct{ object Object }

// Has implements [fields.Fields].
func (f fieldsOf) Has(path string) bool { return f.Get(path) != "" }

// Get implements [fields.Fields].
func (f fieldsOf) Get(path string) string {
	value, _, _ := unstructured.NestedString(f.object.Object, strings.Split(path, ".")...)
	return value
}
