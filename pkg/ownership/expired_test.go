// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// condition is one status condition as JSON has it.
type condition = map[string]any

// ready is a Ready condition about a generation; 0 leaves it out.
func ready(status, reason string, generation int64) condition {
	return about("Ready", status, reason, generation)
}

func about(kind, status, reason string, generation int64) condition {
	c := condition{"type": kind, "status": status, "reason": reason}
	if generation != 0 {
		c["observedGeneration"] = generation
	}
	return c
}

func conditions(all ...condition) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		list := make([]any, 0, len(all))
		for _, c := range all {
			list = append(list, c)
		}
		if err := unstructured.SetNestedSlice(u.Object, list, "status", "conditions"); err != nil {
			panic(err)
		}
	}
}

func and(changes ...func(*unstructured.Unstructured)) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		for _, change := range changes {
			change(u)
		}
	}
}

func status(v any) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) { u.Object["status"] = v }
}

func suspended(u *unstructured.Unstructured) {
	if err := unstructured.SetNestedField(u.Object, "Suspended", "spec", "operatingMode"); err != nil {
		panic(err)
	}
}

// A live Sandbox releases when, and only when, its Ready condition says about
// its present generation that it has expired. The object is
// generation 3.
func TestExpiredSandbox(t *testing.T) {
	now := about("Suspended", "True", "SandboxSuspended", 3)
	for _, c := range []struct {
		name   string
		change func(*unstructured.Unstructured)
		want   verdict
	}{
		{"no status", nil, alive("owner")},
		{"no condition", conditions(), alive("owner")},
		{"ready", conditions(ready("True", "SandboxReady", 3)), alive("owner")},
		{"not ready for another reason", conditions(ready("False", "PodNotReady", 3)), alive("owner")},
		{"expired", conditions(ready("False", "SandboxExpired", 3)), ownerExpired},
		{"expired, after other conditions", conditions(about("Initialized", "True", "Done", 3), ready("False", "SandboxExpired", 3)), ownerExpired},
		{"expired, by a controller that observes no generation", conditions(ready("False", "SandboxExpired", 0)), ownerExpired},
		{"expired, kept with shutdown policy Retain", and(conditions(ready("False", "SandboxExpired", 3)), func(u *unstructured.Unstructured) {
			u.Object["spec"] = map[string]any{"shutdownPolicy": "Retain", "shutdownTime": "2026-07-27T02:15:00Z"}
		}), ownerExpired},
		{"expired as of an older generation", conditions(ready("False", "SandboxExpired", 2)), alive("owner")},
		{"expired as of a later generation", conditions(ready("False", "SandboxExpired", 4)), alive("owner")},
		{"expired, generation that is no number", conditions(condition{"type": "Ready", "status": "False", "reason": "SandboxExpired", "observedGeneration": "3"}), alive("owner")},
		{"expired, generation with a fraction", conditions(condition{"type": "Ready", "status": "False", "reason": "SandboxExpired", "observedGeneration": 3.5}), alive("owner")},
		{"ready with the reason of an expired one", conditions(ready("True", "SandboxExpired", 3)), alive("owner")},
		{"unknown with that reason", conditions(ready("Unknown", "SandboxExpired", 3)), alive("owner")},
		{"no status of the condition", conditions(condition{"type": "Ready", "reason": "SandboxExpired"}), alive("owner")},
		{"reason in another condition", conditions(ready("False", "PodNotReady", 3), about("Finished", "False", "SandboxExpired", 3)), alive("owner")},
		{"reason in other letters", conditions(ready("False", "sandboxexpired", 3)), alive("owner")},
		{"reason with more to it", conditions(ready("False", "SandboxExpiredSoon", 3)), alive("owner")},
		{"shutdown time passed, not yet said", func(u *unstructured.Unstructured) {
			u.Object["spec"] = map[string]any{"shutdownTime": "2020-01-01T00:00:00Z"}
		}, alive("owner")},

		{"suspended", and(suspended, conditions(ready("False", "SandboxSuspended", 3), now)), alive("owner")},
		{"suspended, conditions of the time before", and(suspended, conditions(ready("True", "SandboxReady", 2))), alive("owner")},
		{"suspended, stale expiry", and(suspended, conditions(ready("False", "SandboxExpired", 2), now)), alive("owner")},
		{"stale suspension beside Ready", conditions(ready("True", "SandboxReady", 3), about("Suspended", "True", "SandboxSuspended", 2)), alive("owner")},
		{"suspended and then expired", and(suspended, conditions(ready("False", "SandboxExpired", 3), now)), ownerExpired},

		{"expired and replaced", and(conditions(ready("False", "SandboxExpired", 3)), func(u *unstructured.Unstructured) { u.SetUID("U2") }), replaced("owner")},
		{"expired and being deleted", and(conditions(ready("False", "SandboxExpired", 3)), deleting), leaving("owner")},

		{"status that is a text", status("SandboxExpired"), alive("owner")},
		{"conditions that are an object", status(map[string]any{"conditions": map[string]any{"type": "Ready"}}), alive("owner")},
		{"condition that is a text", status(map[string]any{"conditions": []any{"SandboxExpired"}}), alive("owner")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			s.objects[ownerPath] = asJSON(200, sandbox(c.change))
			c.want.check(t, s.authorizer(t).Owner(t.Context(), "team-red", owner))
			a, _, _ := fakes(sandbox(c.change))
			c.want.check(t, a.Owner(t.Context(), "team-red", owner))
		})
	}
}

// Only the Sandbox of this group has a say in its expiry, at any version.
func TestExpiredLooksOfOtherKinds(t *testing.T) {
	for _, c := range []struct {
		name, apiVersion, kind, path string
		want                         verdict
	}{
		{"an older version", "agents.x-k8s.io/v1alpha1", "Sandbox", "/apis/agents.x-k8s.io/v1alpha1/namespaces/team-red/sandboxes/notebook-a", ownerExpired},
		{"another kind", "agents.x-k8s.io/v1beta1", "SandboxPool", "/apis/agents.x-k8s.io/v1beta1/namespaces/team-red/sandboxpools/notebook-a", alive("owner")},
		{"another group", "example.com/v1beta1", "Sandbox", "/apis/example.com/v1beta1/namespaces/team-red/sandboxes/notebook-a", alive("owner")},
		{"the group of the extensions", "extensions.agents.x-k8s.io/v1beta1", "Sandbox", "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/team-red/sandboxes/notebook-a", alive("owner")},
		{"a workload", "apps/v1", "ReplicaSet", "/apis/apps/v1/namespaces/team-red/replicasets/notebook-a", alive("owner")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := startServer(t)
			s.served = nil
			s.objects[c.path] = asJSON(200, object(c.apiVersion, c.kind, conditions(ready("False", "SandboxExpired", 3))))
			d := s.authorizer(t).Owner(t.Context(), "team-red", claims.Owner{APIVersion: c.apiVersion, Kind: c.kind, Name: "notebook-a", UID: "U1"})
			c.want.check(t, d)
		})
	}
}
