// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Mode is how the API server answers.
type Mode string

// All modes.
const (
	Healthy     Mode = "healthy"
	Refusing    Mode = "connection refused"
	Failing     Mode = "500"
	Forbidding  Mode = "403"
	NoEndpoint  Mode = "404 without a name"
	Slow        Mode = "slow"
	slowestCall      = 20 * time.Second
)

// API is the part of an API server that the daemon reads: Pods, the objects
// that own them, and the cluster's identity. It is an [http.RoundTripper].
type API struct {
	// ClusterUID is the UID of the kube-system Namespace, which identifies the
	// cluster.
	ClusterUID types.UID

	mu       sync.Mutex
	mode     Mode
	uids     int
	state    state
	backup   state
	watchers []func(before, after *corev1.Pod)
	relists  []func(map[string]*corev1.Pod)
	made     []string // the keys of all Pods of ReplicaSets, in order
	calls    map[string]int
	leaks    func(text []byte)
}

// state is what a backup holds. Objects are replaced, never changed.
type state struct {
	version int
	pods    map[string]*corev1.Pod
	owners  map[string]*unstructured.Unstructured
}

// New returns the empty API server of a cluster. It passes each request body to
// leaks.
func New(cluster types.UID, leaks func([]byte)) *API {
	a := &API{ClusterUID: cluster, mode: Healthy, calls: map[string]int{}, leaks: leaks}
	a.state = state{pods: map[string]*corev1.Pod{}, owners: map[string]*unstructured.Unstructured{}}
	a.backup = a.state.copy()
	return a
}

// SetMode changes how the server answers.
func (a *API) SetMode(m Mode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = m
}

// Watch calls f with each change of a Pod, in order. before is nil for a new Pod,
// after is nil for a removed one.
func (a *API) Watch(f func(before, after *corev1.Pod)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watchers = append(a.watchers, f)
}

// WatchRelists calls f with all Pods, by key, whenever a watcher would have to list
// again because changes were not delivered one by one.
func (a *API) WatchRelists(f func(map[string]*corev1.Pod)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.relists = append(a.relists, f)
}

// Calls returns the number of the daemon's requests.
func (a *API) Calls() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.calls {
		n += c
	}
	return n
}

// RoundTrip implements [http.RoundTripper].
func (a *API) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
		a.leaks(body)
	}
	a.mu.Lock()
	mode := a.mode
	if !strings.HasPrefix(req.URL.Path, "/api/v1/namespaces/kube-system") || strings.Contains(req.URL.Path, "/pods/") {
		a.calls[req.Method]++ // reads of the cluster's identity are not counted
	}
	a.mu.Unlock()
	switch mode {
	case Refusing:
		return nil, fmt.Errorf("dial: connection refused")
	case Slow:
		select {
		case <-time.After(slowestCall):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	case Failing:
		return reply(req, http.StatusInternalServerError, apierrors.NewInternalError(fmt.Errorf("storage")).Status())
	case Forbidding:
		return reply(req, http.StatusForbidden, apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("rbac")).Status())
	case NoEndpoint:
		return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("404 page not found")), Request: req}, nil
	}
	return a.serve(req, body)
}

func (a *API) serve(req *http.Request, body []byte) (*http.Response, error) {
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	if len(parts) < 4 {
		return nil, fmt.Errorf("no such path %s", req.URL.Path)
	}
	resource, key := parts[len(parts)-2], parts[len(parts)-3]+"/"+parts[len(parts)-1]
	kind, isOwner := kindOf(resource)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case resource == "namespaces" && req.Method == http.MethodGet && parts[len(parts)-1] == metav1.NamespaceSystem:
		return reply(req, http.StatusOK, corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: a.ClusterUID},
		})
	case isOwner && req.Method == http.MethodGet:
		if o, ok := a.state.owners[key]; ok && o.GetKind() == kind.Name {
			return reply(req, http.StatusOK, o.Object)
		}
	case resource == "apiservices" && req.Method == http.MethodGet:
		return reply(req, http.StatusOK, localAPIService(parts[len(parts)-1]))
	case resource == "pods" && req.Method == http.MethodGet:
		if p, ok := a.state.pods[key]; ok {
			return reply(req, http.StatusOK, withKind(p))
		}
	case resource == "pods" && req.Method == http.MethodDelete:
		if p, ok := a.state.pods[key]; ok {
			var opts metav1.DeleteOptions
			if err := json.Unmarshal(body, &opts); err != nil {
				return nil, err
			}
			if opts.Preconditions == nil || *opts.Preconditions.UID != p.UID {
				return reply(req, http.StatusConflict, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, p.Name, fmt.Errorf("uid")).Status())
			}
			a.removePod(key)
			return reply(req, http.StatusOK, withKind(p))
		}
	default:
		return nil, fmt.Errorf("no such call %s %s", req.Method, req.URL.Path)
	}
	return reply(req, http.StatusNotFound, apierrors.NewNotFound(schema.GroupResource{Resource: resource}, parts[len(parts)-1]).Status())
}

// localAPIService returns the APIService of a group that the API server itself serves.
func localAPIService(name string) map[string]any {
	return map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
		"metadata": map[string]any{"name": name, "resourceVersion": "1"}, "spec": map[string]any{},
	}
}

func withKind(p *corev1.Pod) *corev1.Pod {
	p = p.DeepCopy()
	p.APIVersion, p.Kind = "v1", "Pod"
	return p
}

func reply(req *http.Request, code int, obj any) (*http.Response, error) {
	if s, ok := obj.(metav1.Status); ok {
		s.APIVersion, s.Kind = "v1", "Status"
		obj = s
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code), Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(raw)),
	}, nil
}

func (a *API) uid(kind string) types.UID {
	a.uids++
	return types.UID(fmt.Sprintf("%s-%s-%d", a.ClusterUID, kind, a.uids))
}

func (a *API) notify(before, after *corev1.Pod) {
	for _, w := range a.watchers {
		w(before, after)
	}
}

// version returns the next resource version.
func (a *API) version() string {
	a.state.version++
	return strconv.Itoa(a.state.version)
}

// removePod deletes a Pod without a grace period. A finalizer delays the removal until
// it is removed itself.
func (a *API) removePod(key string) {
	p, ok := a.state.pods[key]
	switch {
	case !ok:
	case len(p.Finalizers) > 0:
		a.change(key, func(p *corev1.Pod) { markDeleted(p, 0) })
	default:
		delete(a.state.pods, key)
		a.notify(p, nil)
	}
}

// markDeleted sets the grace period and, if missing, the deletion timestamp of a Pod.
func markDeleted(p *corev1.Pod, grace int64) {
	if p.DeletionTimestamp == nil {
		now := metav1.NewTime(time.Now().Truncate(time.Second))
		p.DeletionTimestamp = &now
	}
	p.DeletionGracePeriodSeconds = &grace
}
