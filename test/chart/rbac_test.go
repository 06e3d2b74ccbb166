// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

// right is one verb on one resource, followed by the rule's resource names if it has any.
// An empty namespace means all namespaces.
type right struct{ namespace, group, resource, verb string }

// reasons are all rights of the account and their reasons.
var reasons = map[right]string{
	{"", "", "pods", "get"}:          "a bare Pod is read before its sandbox is released",
	{"", "", "pods", "list"}:         "the pod informer, by field selector on the virtual node",
	{"", "", "pods", "watch"}:        "the same",
	{"", "", "pods", "delete"}:       "a Pod is removed as soon as its deletion is finished",
	{"", "", "pods/status", "patch"}: "synthetic status and claim-id annotation",

	{"", "", "nodes", "get"}:          "the name is checked for another host's Node; virtual-kubelet reads it before each patch",
	{"", "", "nodes", "watch"}:        "its own Node, by name: whether it is there, and the UID that owns what is published",
	{"", "", "nodes", "list"}:         "the same, where the API server does not stream a list into a watch",
	{"", "", "nodes", "create"}:       "registration, again when someone has deleted the Node",
	{"", "", "nodes", "patch"}:        "the taint is put back when someone has removed it",
	{"", "", "nodes/status", "patch"}: "heartbeat, conditions, capacity, labels",

	{"", "", "namespaces kube-system", "get"}: "the cluster's identity, which the claims table has to belong to",

	{"", "", "events", "create"}: "events about Pods and the node",
	{"", "", "events", "patch"}:  "a repeated event is counted up",

	{"", "agents.x-k8s.io", "sandboxes", "get"}:          "delete authorisation reads the owner",
	{"", "apiregistration.k8s.io", "apiservices", "get"}: "whether the owner's answer came from the API server's own storage",

	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "get"}:          "the conditions of an earlier run; what a watch that ended has missed",
	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "watch"}:        "edits and deletions by others, by the one name",
	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "create"}:       "an apply that creates needs it",
	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "patch"}:        "server-side apply, for the owner",
	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses/status", "patch"}: "server-side apply of the status",

	{"kube-node-lease", "coordination.k8s.io", "leases", "get"}:    "virtual-kubelet's lease controller",
	{"kube-node-lease", "coordination.k8s.io", "leases", "create"}: "the same",
	{"kube-node-lease", "coordination.k8s.io", "leases", "update"}: "the same",
}

// publishing are the rights that inventory.publish adds.
var publishing = map[right]string{
	{"", "sandbox.cocoonstack.io", "nodeinventories", "create"}: "an apply that creates needs it",
	{"", "sandbox.cocoonstack.io", "nodeinventories", "patch"}:  "server-side apply",
}

func TestRights(t *testing.T) {
	teams := right{"", "teams.example.com", "notebooks", "get"}
	jobs := right{"", "batch", "jobs", "get"}
	sandboxes := right{"", "agents.x-k8s.io", "sandboxes", "get"}
	registrations := right{"", "apiregistration.k8s.io", "apiservices", "get"}
	tests := map[string]struct {
		values        string
		plus, without []right
	}{
		"alone":            {},
		"inventory":        {values: `inventory: {publish: true}`, plus: keys(publishing)},
		"no claim status":  {values: `claimStatus: {interval: "0s"}`, without: claimStatus()},
		"other owners":     {values: `owners: [{apiGroups: [teams.example.com], resources: [notebooks]}, {apiGroups: [batch], resources: [jobs]}]`, plus: []right{teams, jobs}, without: []right{sandboxes}},
		"no owner at all":  {values: `owners: []`, without: []right{sandboxes, registrations}},
		"no RBAC":          {values: `rbac: {create: false}`, without: keys(reasons)},
		"policy disabled":  {values: `admissionPolicy: {enabled: false}`},
		"existing account": {values: `serviceAccount: {create: false, name: theirs}`},
		"token and a cert": {values: `{sandboxd: {token: x}, tls: {existingSecret: cert}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := append(keys(reasons), test.plus...)
			want = slices.DeleteFunc(want, func(r right) bool { return slices.Contains(test.without, r) })
			got := rights(t, render(t, install{values: test.values}))
			if diff := cmp.Diff(sorted(want), sorted(got), cmp.AllowUnexported(right{})); diff != "" {
				t.Errorf("rights (-want +got):\n%s", diff)
			}
		})
	}
}

// claimStatus are the rights that a claimStatus.interval of zero removes.
func claimStatus() []right {
	return slices.DeleteFunc(keys(reasons), func(r right) bool { return !strings.HasPrefix(r.resource, "nodeclaimstatuses") })
}

func keys(m map[right]string) []right {
	var all []right
	for r := range m {
		all = append(all, r)
	}
	return all
}

func sorted(rights []right) []string {
	var lines []string
	for _, r := range rights {
		lines = append(lines, strings.Join([]string{r.namespace, r.group, r.resource, r.verb}, "|"))
	}
	slices.Sort(lines)
	return lines
}

// rights returns the rights of all bindings of the release.
func rights(t *testing.T, rendered objects) []right {
	t.Helper()
	var found []right
	add := func(namespace string, rules []rbacv1.PolicyRule) {
		for _, rule := range rules {
			if len(rule.NonResourceURLs) > 0 {
				t.Errorf("rule %v: not expected to name URLs", rule)
			}
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					resource = strings.Join(append([]string{resource}, rule.ResourceNames...), " ")
					for _, verb := range rule.Verbs {
						found = append(found, right{namespace, group, resource, verb})
					}
				}
			}
		}
	}
	for _, role := range all[*rbacv1.ClusterRole](rendered) {
		add("", role.Rules)
	}
	for _, role := range all[*rbacv1.Role](rendered) {
		add(role.Namespace, role.Rules)
	}
	return found
}

// A role without a binding, or bound to another account, grants nothing.
func TestBindings(t *testing.T) {
	tests := map[string]struct{ values, account string }{
		"own account":      {account: "vk-sandbox"},
		"named account":    {values: `serviceAccount: {name: agent}`, account: "agent"},
		"existing account": {values: `serviceAccount: {create: false, name: theirs}`, account: "theirs"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, install{values: test.values})
			want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: test.account, Namespace: "sandboxes"}}
			cluster, local := one[*rbacv1.ClusterRoleBinding](t, rendered), one[*rbacv1.RoleBinding](t, rendered)
			check(t, "cluster subjects", want, cluster.Subjects)
			check(t, "lease subjects", want, local.Subjects)
			check(t, "cluster role", rbacv1.RoleRef{
				APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: one[*rbacv1.ClusterRole](t, rendered).Name,
			}, cluster.RoleRef)
			check(t, "lease role", rbacv1.RoleRef{
				APIGroup: rbacv1.GroupName, Kind: "Role", Name: one[*rbacv1.Role](t, rendered).Name,
			}, local.RoleRef)
			check(t, "binding namespace", "kube-node-lease", local.Namespace)
			check(t, "Pod's account", test.account, podSpec(t, rendered).ServiceAccountName)
		})
	}
}
