// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

const (
	alphaPath = "/apis/agents.x-k8s.io/v1alpha1/namespaces/team-red/sandboxes/notebook-a"
	alpha     = "agents.x-k8s.io/v1alpha1"
	beta      = "agents.x-k8s.io/v1beta1"
)

var sandboxes = []metav1.APIResource{{Name: "sandboxes", Kind: "Sandbox", Namespaced: true}}

// Where an owner is looked for.
func TestResourceOfAKind(t *testing.T) {
	for _, c := range []struct {
		name   string
		served map[string][]metav1.APIResource
		owner  claims.Owner
		want   string
	}{
		{"as referenced", map[string][]metav1.APIResource{alpha: sandboxes, beta: sandboxes}, owner, ownerPath},
		{"version retired", map[string][]metav1.APIResource{beta: sandboxes}, claims.Owner{APIVersion: alpha, Kind: "Sandbox"}, ownerPath},
		{"version older than the preferred one", map[string][]metav1.APIResource{alpha: sandboxes, beta: sandboxes}, claims.Owner{APIVersion: alpha, Kind: "Sandbox"}, alphaPath},
		{
			"plural that no rule gives", map[string][]metav1.APIResource{"example.com/v1": {{Name: "oxen", Kind: "Ox", Namespaced: true}}},
			claims.Owner{APIVersion: "example.com/v1", Kind: "Ox"}, "/apis/example.com/v1/namespaces/team-red/oxen/notebook-a",
		},
		{
			"cluster-scoped", map[string][]metav1.APIResource{"example.com/v1": {{Name: "tenants", Kind: "Tenant"}}},
			claims.Owner{APIVersion: "example.com/v1", Kind: "Tenant"}, "/apis/example.com/v1/tenants/notebook-a",
		},
		{"core group", map[string][]metav1.APIResource{"v1": {{Name: "pods", Kind: "Pod", Namespaced: true}}}, claims.Owner{APIVersion: "v1", Kind: "Pod"}, podPath},
		{"kind of another group only", map[string][]metav1.APIResource{"example.com/v1": sandboxes}, owner, ownerPath},
		{"discovery down, Sandbox", nil, owner, ownerPath},
		{"discovery down, Policy", nil, claims.Owner{APIVersion: "example.com/v1", Kind: "Policy"}, "/apis/example.com/v1/namespaces/team-red/policies/notebook-a"},
		{"discovery down, Gateway", nil, claims.Owner{APIVersion: "example.com/v1", Kind: "Gateway"}, "/apis/example.com/v1/namespaces/team-red/gateways/notebook-a"},
		{"discovery down, Batch", nil, claims.Owner{APIVersion: "example.com/v1", Kind: "Batch"}, "/apis/example.com/v1/namespaces/team-red/batches/notebook-a"},
		{"discovery down, SandboxClaim", nil, claims.Owner{APIVersion: "extensions.agents.x-k8s.io/v1beta1", Kind: "SandboxClaim"}, "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/team-red/sandboxclaims/notebook-a"},
		{"discovery down, Y", nil, claims.Owner{APIVersion: "example.com/v1", Kind: "Y"}, "/apis/example.com/v1/namespaces/team-red/ys/notebook-a"},
		{"discovery down, Ingress", nil, claims.Owner{APIVersion: "example.com/v1", Kind: "Ingress"}, "/apis/example.com/v1/namespaces/team-red/ingresses/notebook-a"},
		{"discovery down, ReplicaSet", nil, claims.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet"}, "/apis/apps/v1/namespaces/team-red/replicasets/notebook-a"},
		{"discovery down, core group", nil, claims.Owner{APIVersion: "v1", Kind: "ConfigMap"}, "/api/v1/namespaces/team-red/configmaps/notebook-a"},
		{"kind unknown", map[string][]metav1.APIResource{}, claims.Owner{APIVersion: "example.com/v1", Kind: "Policy"}, "/apis/example.com/v1/namespaces/team-red/policies/notebook-a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			s.served = c.served
			s.objects[c.want] = failure(404, metav1.StatusReasonNotFound, details("notebook-a", "", ""))
			c.owner.Name, c.owner.UID = "notebook-a", "U1"
			gone("owner").check(t, s.authorizer(t).Owner(t.Context(), "team-red", c.owner))
			if diff := cmp.Diff([]string{"GET " + c.want}, s.gets()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// A wrong guess is safe: the endpoint does not exist, and its 404 names no object.
func TestWrongGuessPreserves(t *testing.T) {
	for name, o := range map[string]claims.Owner{
		"plural":         {APIVersion: "example.com/v1", Kind: "Ox", Name: "notebook-a", UID: "U1"},
		"cluster-scoped": {APIVersion: "example.com/v1", Kind: "Tenant", Name: "notebook-a", UID: "U1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			s.served = nil
			s.objects["/apis/example.com/v1/tenants/notebook-a"] = failure(404, metav1.StatusReasonNotFound, details("notebook-a", "", ""))
			unnamed("owner").check(t, s.authorizer(t).Owner(t.Context(), "team-red", o))
		})
	}
}

// A version that is retired while the daemon runs is noticed, by the 404 of
// the endpoint that is no more.
func TestVersionRetiredLater(t *testing.T) {
	s := startServer(t)
	s.served[alpha] = sandboxes
	s.objects[alphaPath] = asJSON(200, object(alpha, "Sandbox", nil))
	a := s.authorizer(t)
	old := owner
	old.APIVersion = alpha
	alive("owner").check(t, a.Owner(t.Context(), "team-red", old))
	s.change(func() {
		delete(s.served, alpha)
		delete(s.objects, alphaPath)
		s.objects[ownerPath] = asJSON(200, sandbox(deleting))
	})
	leaving("owner").check(t, a.Owner(t.Context(), "team-red", old))
	if diff := cmp.Diff([]string{"GET " + alphaPath, "GET " + alphaPath, "GET " + ownerPath}, s.gets()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// Owners that cannot be verified ask for one discovery, not for one each.
func TestDiscoveryIsNotRepeated(t *testing.T) {
	s := startServer(t)
	a := s.authorizer(t)
	unnamed("owner").check(t, a.Owner(t.Context(), "team-red", owner))
	looked := 0
	s.change(func() { looked = s.looked })
	for range 20 {
		unnamed("owner").check(t, a.Owner(t.Context(), "team-red", owner))
	}
	s.change(func() {
		if s.looked != looked {
			t.Errorf("%d more discovery requests", s.looked-looked)
		}
	})
}
