// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// testReasons are all rights of `helm test` and their reasons.
var testReasons = map[right]string{
	{"sandboxes", "", "pods", "create"}:                        "the Pods whose claims are the test",
	{"sandboxes", "", "pods", "get"}:                           "they run, and they go",
	{"sandboxes", "", "pods", "delete"}:                        "their release is the other half of the test",
	{"sandboxes", "apps", "daemonsets vk-sandbox", "get"}:      "every daemon is Ready",
	{"", "", "nodes", "list"}:                                  "the virtual nodes, by their labels",
	{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "get"}: "a claim is made and released",
}

// The test has its own account with exactly the rights that it needs. The daemon's
// account gets none of them.
func TestRightsOfTheTest(t *testing.T) {
	status := right{"", "sandbox.cocoonstack.io", "nodeclaimstatuses", "get"}
	for name, test := range map[string]struct {
		values  string
		without []right
	}{
		"alone":             {},
		"no claim status":   {`claimStatus: {interval: "0s"}`, []right{status}},
		"inventory":         {`inventory: {publish: true}`, nil},
		"no RBAC":           {`rbac: {create: false}`, keys(testReasons)},
		"left out":          {`test: {enabled: false}`, keys(testReasons)},
		"existing account":  {`serviceAccount: {create: false, name: theirs}`, nil},
		"token and a owner": {`{sandboxd: {token: x}, owners: []}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(keys(testReasons), func(r right) bool { return slices.Contains(test.without, r) })
			hooks := renderHooks(t, install{values: test.values})
			check(t, "rights", sorted(want), sorted(rights(t, hooks)))
			subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: "vk-sandbox-test", Namespace: "sandboxes"}}
			for _, b := range all[*rbacv1.RoleBinding](hooks) {
				check(t, "subjects", subjects, b.Subjects)
				check(t, "role", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: one[*rbacv1.Role](t, hooks).Name}, b.RoleRef)
				check(t, "namespace", "sandboxes", b.Namespace)
			}
			for _, b := range all[*rbacv1.ClusterRoleBinding](hooks) {
				check(t, "subjects", subjects, b.Subjects)
				check(t, "role", rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: one[*rbacv1.ClusterRole](t, hooks).Name}, b.RoleRef)
			}
			if bindings := len(all[*rbacv1.RoleBinding](hooks)) + len(all[*rbacv1.ClusterRoleBinding](hooks)); (bindings == 2) != (len(want) > 0) {
				t.Errorf("%d bindings for %d rights", bindings, len(want))
			}
		})
	}
}

// The test's objects are created before its Pod and deleted with it, and the DaemonSet's
// selector does not match the Pod.
func TestHooks(t *testing.T) {
	in := install{values: `{nameOverride: vm, commonLabels: {team: red}}`}
	hooks := renderHooks(t, in)
	if len(hooks) != 6 {
		t.Errorf("%d objects, want an account, two roles with their bindings, and a Pod", len(hooks))
	}
	selector, err := metav1.LabelSelectorAsSelector(daemonSet(t, render(t, in)).Spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range hooks {
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		weight := "-1"
		if _, isPod := object.(*corev1.Pod); isPod {
			weight = "0"
		}
		for key, want := range map[string]string{
			"helm.sh/hook": "test", "helm.sh/hook-weight": weight, "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
		} {
			check(t, accessor.GetName()+" "+key, want, accessor.GetAnnotations()[key])
		}
		if selector.Matches(labels.Set(accessor.GetLabels())) {
			t.Errorf("%T %s has the labels of the daemon's Pods", object, accessor.GetName())
		}
	}
	if left := renderHooks(t, install{values: `test: {enabled: false}`}); len(left) > 0 {
		t.Errorf("%d objects of the test are left", len(left))
	}
}

// The Pod uses nothing of the host and satisfies the restricted Pod security level.
func TestPodOfTheTest(t *testing.T) {
	in := install{values: `{nodeSelector: {pool: vm}, tolerations: [{operator: Exists}], imagePullSecrets: [{name: pull}], image: {tag: v9}}`}
	pod, daemon := one[*corev1.Pod](t, renderHooks(t, in)), podSpec(t, render(t, in))
	spec := pod.Spec
	yes, no, user := true, false, int64(65532)
	check(t, "Pod's security context", &corev1.PodSecurityContext{
		RunAsNonRoot: &yes, RunAsUser: &user, RunAsGroup: &user,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, spec.SecurityContext)
	c := spec.Containers[0]
	check(t, "container's security context", &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, c.SecurityContext)
	if spec.HostNetwork || len(spec.Volumes) > 0 || len(c.Command) > 0 || spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
		t.Errorf("host network %t, volumes %v, command %v", spec.HostNetwork, spec.Volumes, c.Command)
	}
	check(t, "restart policy", corev1.RestartPolicyNever, spec.RestartPolicy)
	check(t, "account", "vk-sandbox-test", spec.ServiceAccountName)
	// It goes where the image is, and never to a virtual node.
	check(t, "image", container(t, render(t, in)).Image, c.Image)
	check(t, "node selector", daemon.NodeSelector, spec.NodeSelector)
	check(t, "affinity", daemon.Affinity, spec.Affinity)
	check(t, "tolerations", daemon.Tolerations, spec.Tolerations)
	check(t, "pull secrets", daemon.ImagePullSecrets, spec.ImagePullSecrets)
}

func TestArgumentsOfTheTest(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"alone": {"", []string{
			"--namespace=sandboxes", "--node-selector=type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd", "--daemonset=vk-sandbox",
			"--owner-pod=$(POD_NAME)/$(POD_UID)", "--claim-status=true", "--template=ghcr.io/cocoonstack/sandbox/rt:24.04", "--timeout=2m",
		}},
		"everything": {
			`{node: {labels: {zone: a}}, fullnameOverride: vm, claimStatus: {interval: "0"}, test: {template: py, net: lan, size: small, timeout: 10m}}`,
			[]string{
				"--namespace=sandboxes", "--node-selector=type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd,zone=a", "--daemonset=vm",
				"--owner-pod=$(POD_NAME)/$(POD_UID)", "--claim-status=false", "--template=py", "--net=lan", "--size=small", "--timeout=10m",
			},
		},
		"no labels": {`node: {labels: {sandbox.cocoonstack.io/runtime: null}}`, []string{
			"--namespace=sandboxes", "--node-selector=type=virtual-kubelet", "--daemonset=vk-sandbox",
			"--owner-pod=$(POD_NAME)/$(POD_UID)", "--claim-status=true", "--template=ghcr.io/cocoonstack/sandbox/rt:24.04", "--timeout=2m",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := one[*corev1.Pod](t, renderHooks(t, install{values: test.values})).Spec.Containers[0]
			check(t, "arguments", append([]string{"check"}, test.want...), c.Args)
			var env []string
			for _, e := range c.Env {
				env = append(env, e.Name+"="+e.ValueFrom.FieldRef.FieldPath)
			}
			check(t, "environment", "POD_NAME=metadata.name POD_UID=metadata.uid", strings.Join(env, " "))
		})
	}
}
