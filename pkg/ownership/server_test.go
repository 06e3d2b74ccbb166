// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

const (
	ownerPath = "/apis/agents.x-k8s.io/v1beta1/namespaces/team-red/sandboxes/notebook-a"
	podPath   = "/api/v1/namespaces/team-red/pods/notebook-a"
)

var owner = claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "notebook-a", UID: "U1"}

// object is an object named notebook-a with UID U1 and generation 3, changed
// by change.
func object(apiVersion, kind string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetNamespace("team-red")
	u.SetName("notebook-a")
	u.SetUID("U1")
	u.SetGeneration(3)
	if change != nil {
		change(u)
	}
	return u
}

func sandbox(change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	return object("agents.x-k8s.io/v1beta1", "Sandbox", change)
}

func pod(change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	return object("v1", "Pod", change)
}

const apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices/"

// apiService is the APIService of a group and version, backed by a service, or
// by the API server itself when that is nil.
func apiService(name, resourceVersion string, service map[string]any) *unstructured.Unstructured {
	version, group, _ := strings.Cut(name, ".")
	spec := map[string]any{"group": group, "version": version, "groupPriorityMinimum": int64(1000), "versionPriority": int64(100)}
	if service != nil {
		spec["service"] = service
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetAPIVersion("apiregistration.k8s.io/v1")
	u.SetKind("APIService")
	u.SetName(name)
	u.SetUID("registration")
	u.SetResourceVersion(resourceVersion)
	return u
}

// answer is what the API server says to one GET.
type answer struct {
	status int
	kind   string // the content type
	body   string
}

func text(status int, body string) answer { return answer{status, "text/plain; charset=utf-8", body} }

func asJSON(status int, v any) answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return answer{status, "application/json", string(body)}
}

// failure is a Status as API servers send it.
func failure(code int, reason metav1.StatusReason, details *metav1.StatusDetails) answer {
	return asJSON(code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "message", Details: details,
	})
}

// apiServer serves discovery and single objects, and records what was asked.
type apiServer struct {
	url string

	mu      sync.Mutex
	served  map[string][]metav1.APIResource // by group and version; nil: no discovery
	objects map[string]answer               // by path
	asked   []string                        // method and URI of all that is not discovery, nor an APIService
	looked  int                             // discoveries
}

func startServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{
		served: map[string][]metav1.APIResource{
			"v1":                      {{Name: "pods", Kind: "Pod", Namespaced: true}},
			"agents.x-k8s.io/v1beta1": {{Name: "sandboxes", Kind: "Sandbox", Namespaced: true}},
		},
		objects: map[string]answer{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.discover(r.URL.Path)
	if name, is := strings.CutPrefix(r.URL.Path, apiServicesPath); is && !ok {
		if a, ok = s.objects[r.URL.Path]; !ok {
			a, ok = asJSON(http.StatusOK, apiService(name, "1", nil)), true
		}
	}
	if !ok {
		s.asked = append(s.asked, r.Method+" "+r.RequestURI)
		if a, ok = s.objects[r.URL.Path]; !ok {
			a = text(http.StatusNotFound, "404 page not found\n")
		}
	}
	w.Header().Set("Content-Type", a.kind)
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

func (s *apiServer) discover(path string) (answer, bool) {
	gv, isResources := strings.CutPrefix(path, "/apis/")
	if path == "/api/v1" {
		gv, isResources = "v1", true
	}
	isResources = isResources && strings.Count(gv, "/") < 2
	if path != "/api" && path != "/apis" && !isResources {
		return answer{}, false
	}
	s.looked++
	if s.served == nil {
		return text(http.StatusServiceUnavailable, "no discovery"), true
	}
	switch path {
	case "/api":
		return asJSON(http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}), true
	case "/apis":
		return asJSON(http.StatusOK, s.groups()), true
	}
	resources, ok := s.served[gv]
	if !ok {
		return text(http.StatusNotFound, "404 page not found\n"), true
	}
	return asJSON(http.StatusOK, metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv, APIResources: resources}), true
}

func (s *apiServer) groups() metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for gv := range s.served {
		group, version, ok := strings.Cut(gv, "/")
		if !ok {
			continue
		}
		i := slices.IndexFunc(list.Groups, func(g metav1.APIGroup) bool { return g.Name == group })
		if i < 0 {
			list.Groups, i = append(list.Groups, metav1.APIGroup{Name: group}), len(list.Groups)
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
		list.Groups[i].Versions = append(list.Groups[i].Versions, v)
		list.Groups[i].PreferredVersion = v
	}
	return list
}

// change alters the server between two requests.
func (s *apiServer) change(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
}

// gets returns what was asked so far, and forgets it.
func (s *apiServer) gets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func (s *apiServer) authorizer(t *testing.T) *ownership.Authorizer {
	t.Helper()
	return authorizerFor(t, &rest.Config{Host: s.url, QPS: -1})
}

// authorizerFor is built as the daemon builds it.
func authorizerFor(t *testing.T, cfg *rest.Config) *ownership.Authorizer {
	t.Helper()
	owners, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := corev1client.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return ownership.NewAuthorizer(owners, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(d)), pods, &cluster{})
}

// verdict is what a case wants of a Decision.
type verdict struct {
	release bool
	cause   ownership.Cause
	reason  string
	failed  bool // the Decision carries the query's error
}

func (want verdict) check(t *testing.T, got ownership.Decision) {
	t.Helper()
	if g := (verdict{got.Release, got.Cause, got.Reason, got.Err != nil}); g != want {
		t.Errorf("got  %+v (%v)\nwant %+v", g, got.Err, want)
	}
	if got.Release && got.Err != nil {
		t.Errorf("released on an error: %v", got.Err)
	}
}

// The verdicts, for what is "owner" or "bare Pod".
func gone(what string) verdict { return verdict{true, ownership.Gone, what + " is gone", false} }
func replaced(what string) verdict {
	return verdict{true, ownership.Replaced, what + " was replaced: the referenced generation is gone", false}
}
func leaving(what string) verdict {
	return verdict{true, ownership.Deleting, what + " is being deleted", false}
}
func alive(what string) verdict { return verdict{false, ownership.Alive, what + " is alive", false} }
func unread(what string) verdict {
	return verdict{false, ownership.Unreadable, what + " could not be read", true}
}
func unnamed(what string) verdict {
	return verdict{false, ownership.Unverifiable, what + " could not be verified: the 404 does not name it", true}
}
func other(what string) verdict {
	return verdict{false, ownership.Unverifiable, what + " could not be verified: the answer is not that object", true}
}
func unreferenced(what string) verdict {
	return verdict{false, ownership.Unverifiable, what + " could not be verified: the reference has no UID", true}
}

var ownerExpired = verdict{true, ownership.Expired, "owner Sandbox has expired", false}

func details(name, group, kind string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: name, Group: group, Kind: kind}
}

func deleting(u *unstructured.Unstructured) {
	now := metav1.Now()
	u.SetDeletionTimestamp(&now)
	u.SetFinalizers([]string{"example.com/hold"})
}

// row is one row of the delete-authorisation table, over HTTP.
type row struct {
	name   string
	answer answer
	want   verdict
}

// table is the delete-authorisation table for one kind of
// object; live makes one.
func table(what, group, resource string, live func(func(*unstructured.Unstructured)) *unstructured.Unstructured) []row {
	named := func(name string) *metav1.StatusDetails { return details(name, group, resource) }
	unexpected := named("notebook-a")
	unexpected.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}}
	rows := []row{
		{"structured NotFound of this name", failure(404, metav1.StatusReasonNotFound, named("notebook-a")), gone(what)},
		{"structured NotFound of another name", failure(404, metav1.StatusReasonNotFound, named("notebook-b")), unnamed(what)},
		{"structured NotFound without a name", failure(404, metav1.StatusReasonNotFound, named("")), unnamed(what)},
		{"structured NotFound without details", failure(404, metav1.StatusReasonNotFound, nil), unnamed(what)},
		{"structured NotFound of this name, marked unexpected", failure(404, metav1.StatusReasonNotFound, unexpected), unnamed(what)},
		{"404 page not found", text(404, "404 page not found\n"), unnamed(what)},
		{"404 with no body", text(404, ""), unnamed(what)},
		{"404 of a proxy", answer{404, "text/html", "<html><h1>404</h1></html>"}, unnamed(what)},
		{"404 of another JSON API", answer{404, "application/json", `{"error":"not found","name":"notebook-a"}`}, unnamed(what)},
		{"404 with a Status cut short", answer{404, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","details":{"name":"notebook-a"`}, unnamed(what)},
		{"404 with a Status of success", asJSON(404, metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess, Details: named("notebook-a")}), unnamed(what)},
		{"404 without a reason, with this name", failure(404, "", named("notebook-a")), unnamed(what)},

		{"alive", asJSON(200, live(nil)), alive(what)},
		{"another UID", asJSON(200, live(func(u *unstructured.Unstructured) { u.SetUID("U2") })), replaced(what)},
		{"deletionTimestamp", asJSON(200, live(deleting)), leaving(what)},
		{"another UID with deletionTimestamp", asJSON(200, live(func(u *unstructured.Unstructured) { u.SetUID("U2"); deleting(u) })), replaced(what)},
		{"no UID", asJSON(200, live(func(u *unstructured.Unstructured) { u.SetUID("") })), other(what)},
		{"another name", asJSON(200, live(func(u *unstructured.Unstructured) { u.SetName("notebook-b"); u.SetUID("U2") })), other(what)},
	}
	for code, reason := range map[int]metav1.StatusReason{
		401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden, 405: metav1.StatusReasonMethodNotAllowed,
		409: metav1.StatusReasonConflict, 410: metav1.StatusReasonGone, 429: metav1.StatusReasonTooManyRequests,
		500: metav1.StatusReasonInternalError, 502: "", 503: metav1.StatusReasonServiceUnavailable, 504: metav1.StatusReasonTimeout,
	} {
		rows = append(rows,
			row{fmt.Sprint("Status ", code, " of this name"), failure(code, reason, named("notebook-a")), unread(what)},
			row{fmt.Sprint("text ", code), text(code, http.StatusText(code)), unread(what)},
		)
	}
	return rows
}
