// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"fmt"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/watch"
)

// historyLength is how many changes a watch can start behind.
const historyLength = 1000

// Object is one object of the server. It is never changed in place.
type Object = *unstructured.Unstructured

// Config is what a [Server] is made from. Every field is optional.
type Config struct {
	// Observe is called with each change before anyone can see it. before is
	// nil for a new object, after for one that is gone. It must not call the
	// server.
	Observe func(resource string, before, after Object)
	// Inspect is called with the path, query and body of each request.
	Inspect func(what string)
	// Registered is called each time a Node is created or its status written.
	Registered func()
}

// Server is the API server. It is an [http.Handler].
type Server struct {
	config Config

	mu       sync.Mutex
	revision int64
	objects  map[string]map[string]Object // by resource, by namespace/name
	history  []change
	// moved is closed with the next change.
	moved chan struct{}
}

// change is one entry of the history that watches read.
type change struct {
	revision int64
	resource string
	kind     watch.EventType
	object   Object
}

// New returns a server with what every cluster has: the namespace kube-system, and
// an APIService for the Sandboxes that it stores.
func New(c Config) *Server {
	if c.Observe == nil {
		c.Observe = func(string, Object, Object) {}
	}
	if c.Inspect == nil {
		c.Inspect = func(string) {}
	}
	if c.Registered == nil {
		c.Registered = func() {}
	}
	s := &Server{config: c, objects: map[string]map[string]Object{}, moved: make(chan struct{})}
	s.add(Namespaces, metav1.NamespaceSystem, map[string]any{})
	owners := findResource(Sandboxes).GroupVersion()
	s.add(apiServices, owners.Version+"."+owners.Group, map[string]any{"group": owners.Group, "version": owners.Version})
	return s
}

// add puts an object of the cluster's own there before anybody watches.
func (s *Server) add(resource, name string, spec map[string]any) {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(findResource(resource).GroupVersionKind)
	o.SetName(name)
	o.SetUID(uuid.NewUUID())
	o.SetResourceVersion("1")
	s.objects[resource] = map[string]Object{key(o): o}
}

// key is namespace/name; the namespace is empty for a cluster's own object.
func key(o Object) string { return o.GetNamespace() + "/" + o.GetName() }

// Get returns an object; nil when there is none.
func (s *Server) Get(resource, key string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[resource][key]
}

// List returns every object of a resource, in no order.
func (s *Server) List(resource string) []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(resource)
}

func (s *Server) list(resource string) []Object {
	out := make([]Object, 0, len(s.objects[resource]))
	for _, o := range s.objects[resource] {
		out = append(out, o)
	}
	return out
}

// Create adds an object, with a UID of its own. It fails when one of that name
// exists.
func (s *Server) Create(resource string, o Object) (Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[resource][key(o)] != nil {
		return nil, apierrors.NewAlreadyExists(groupResource(resource), o.GetName())
	}
	o = o.DeepCopy()
	o.SetUID(uuid.NewUUID())
	o.SetCreationTimestamp(metav1.Now())
	return s.put(resource, nil, o), nil
}

// Change replaces an object by what apply makes of it. It reports whether there
// is such an object, of that UID unless it is empty.
func (s *Server) Change(resource, key string, uid types.UID, apply func(Object)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.objects[resource][key]
	if before == nil || (uid != "" && before.GetUID() != uid) {
		return false
	}
	after := before.DeepCopy()
	apply(after)
	s.put(resource, before, after)
	return true
}

// Remove takes an object away at once, if it has that UID or uid is empty.
func (s *Server) Remove(resource, key string, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[resource][key]; o != nil && (uid == "" || o.GetUID() == uid) {
		s.remove(resource, o)
	}
}

// put stores after in place of before. The caller holds mu.
func (s *Server) put(resource string, before, after Object) Object {
	s.revision++
	after.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	s.config.Observe(resource, before, after)
	if s.objects[resource] == nil {
		s.objects[resource] = map[string]Object{}
	}
	s.objects[resource][key(after)] = after
	how := watch.Modified
	if before == nil {
		how = watch.Added
	}
	s.record(change{s.revision, resource, how, after})
	return after
}

// remove drops an object. The caller holds mu.
func (s *Server) remove(resource string, o Object) {
	s.config.Observe(resource, o, nil)
	s.revision++
	delete(s.objects[resource], key(o))
	last := o.DeepCopy()
	last.SetResourceVersion(strconv.FormatInt(s.revision, 10))
	s.record(change{s.revision, resource, watch.Deleted, last})
}

func (s *Server) record(c change) {
	s.history = append(s.history, c)
	if len(s.history) > 2*historyLength {
		s.history = append([]change(nil), s.history[historyLength:]...)
	}
	close(s.moved)
	s.moved = make(chan struct{})
}

// since returns the changes of a resource after a revision, and a channel that
// is closed with the next one. It fails when the history does not reach back.
func (s *Server) since(resource string, revision int64) ([]change, int64, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.history) > 0 && revision < s.history[0].revision-1 {
		return nil, 0, nil, apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d", revision))
	}
	var out []change
	for _, c := range s.history {
		if c.revision > revision && c.resource == resource {
			out = append(out, c)
		}
	}
	return out, s.revision, s.moved, nil
}
