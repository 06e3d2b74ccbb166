// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

func TestOwnerOverHTTP(t *testing.T) {
	rows := table("owner", "agents.x-k8s.io", "sandboxes", sandbox)
	rows = append(rows, []row{
		{"200 with no body", answer{200, "application/json", ""}, unread("owner")},
		{"200 of a proxy", answer{200, "text/html", "<html>log in</html>"}, unread("owner")},
		{"200 with an object without a kind", answer{200, "application/json", `{}`}, unread("owner")},
		{"200 with an object cut short", answer{200, "application/json", `{"kind":"Sandbox","apiVersion":"agents.x-k8s.io/v1beta1","metadata":{"name":"notebook-a"`}, unread("owner")},
		{"200 with a Status", answer{200, "application/json", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`}, other("owner")},
		{"200 with a list", answer{200, "application/json", `{"kind":"SandboxList","apiVersion":"agents.x-k8s.io/v1beta1","metadata":{},"items":[]}`}, other("owner")},
	}...)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			s.objects[ownerPath] = c.answer
			c.want.check(t, s.authorizer(t).Owner(t.Context(), "team-red", owner))
		})
	}
}

// The typed client fills the name of an unexpected 404 in from the request
// (client-go), so that it looks as if the API server had named the Pod.
func TestPodOverHTTP(t *testing.T) {
	rows := table("bare Pod", "", "pods", pod)
	rows = append(rows, []row{
		{"200 with no body", answer{200, "application/json", ""}, unread("bare Pod")},
		{"200 of a proxy", answer{200, "text/html", "<html>log in</html>"}, unread("bare Pod")},
		{"200 with an empty object", answer{200, "application/json", `{}`}, other("bare Pod")},
		{"200 with a Status", answer{200, "application/json", `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`}, other("bare Pod")},
	}...)
	for _, contentType := range []string{"", "application/vnd.kubernetes.protobuf"} {
		for _, c := range rows {
			t.Run(c.name+" "+contentType, func(t *testing.T) {
				s := startServer(t)
				s.objects[podPath] = c.answer
				cfg := &rest.Config{Host: s.url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: contentType}}
				c.want.check(t, authorizerFor(t, cfg).Pod(t.Context(), "team-red", "notebook-a", "U1"))
			})
		}
	}
}

// A recorded reference without a UID, from another build's table, says nothing
// about who replaced whom.
func TestReferenceWithoutAUID(t *testing.T) {
	noUID := owner
	noUID.UID = ""
	for _, c := range table("owner", "agents.x-k8s.io", "sandboxes", sandbox) {
		switch c.want {
		case alive("owner"), replaced("owner"), leaving("owner"):
			c.want = unreferenced("owner")
		}
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			s.objects[ownerPath] = c.answer
			c.want.check(t, s.authorizer(t).Owner(t.Context(), "team-red", noUID))
		})
	}
	s := startServer(t)
	s.objects[podPath] = asJSON(200, pod(nil))
	unreferenced("bare Pod").check(t, s.authorizer(t).Pod(t.Context(), "team-red", "notebook-a", ""))
	s.objects[ownerPath] = asJSON(200, sandbox(conditions(ready("False", "SandboxExpired", 3))))
	unreferenced("owner").check(t, s.authorizer(t).Owner(t.Context(), "team-red", noUID))
}

// A reference that cannot be resolved is not looked for elsewhere: a Kind of
// the core group would be found, and found absent.
func TestMalformedReference(t *testing.T) {
	malformed := verdict{false, ownership.Unverifiable, "owner could not be resolved", true}
	for name, o := range map[string]claims.Owner{
		"empty":                  {},
		"no apiVersion":          {Kind: "Pod", Name: "notebook-a", UID: "U1"},
		"apiVersion of 3 parts":  {APIVersion: "agents.x-k8s.io/v1/beta1", Kind: "Pod", Name: "notebook-a", UID: "U1"},
		"apiVersion of a group":  {APIVersion: "agents.x-k8s.io/", Kind: "Sandbox", Name: "notebook-a", UID: "U1"},
		"no kind":                {APIVersion: "agents.x-k8s.io/v1beta1", Name: "notebook-a", UID: "U1"},
		"neither kind nor group": {Name: "notebook-a", UID: "U1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			s.objects[podPath] = failure(404, "NotFound", details("notebook-a", "", "pods"))
			malformed.check(t, s.authorizer(t).Owner(t.Context(), "team-red", o))
			if asked := s.gets(); len(asked) > 0 {
				t.Errorf("asked %q", asked)
			}
		})
	}
	for _, name := range []string{"", ".", "..", "a/b"} {
		s := startServer(t)
		unread("owner").check(t, s.authorizer(t).Owner(t.Context(), "team-red", claims.Owner{APIVersion: owner.APIVersion, Kind: owner.Kind, Name: name, UID: "U1"}))
		unread("bare Pod").check(t, s.authorizer(t).Pod(t.Context(), "team-red", name, "U1"))
	}
}

func TestNoAPIServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	a := authorizerFor(t, &rest.Config{Host: server.URL, QPS: -1})
	unread("owner").check(t, a.Owner(t.Context(), "team-red", owner))
	unread("bare Pod").check(t, a.Pod(t.Context(), "team-red", "notebook-a", "U1"))
}

// Reads are quorum reads: a GET of one object with no resourceVersion, which a
// cache could answer, and nothing besides.
func TestReadsAreQuorumReads(t *testing.T) {
	s := startServer(t)
	s.objects[ownerPath] = asJSON(200, sandbox(nil))
	s.objects[podPath] = asJSON(200, pod(nil))
	a := s.authorizer(t)
	alive("owner").check(t, a.Owner(t.Context(), "team-red", owner))
	alive("bare Pod").check(t, a.Pod(t.Context(), "team-red", "notebook-a", "U1"))
	if diff := cmp.Diff([]string{"GET " + ownerPath, "GET " + podPath}, s.gets()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Every verdict is read anew.
func TestNothingIsRemembered(t *testing.T) {
	s := startServer(t)
	a := s.authorizer(t)
	for _, c := range []row{
		{"alive", asJSON(200, sandbox(nil)), alive("owner")},
		{"down", text(503, ""), unread("owner")},
		{"gone", failure(404, "NotFound", details("notebook-a", "agents.x-k8s.io", "sandboxes")), gone("owner")},
		{"back", asJSON(200, sandbox(nil)), alive("owner")},
	} {
		s.change(func() { s.objects[ownerPath] = c.answer })
		c.want.check(t, a.Owner(t.Context(), "team-red", owner))
	}
}
