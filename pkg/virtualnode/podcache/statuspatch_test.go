// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestStatusPatch(t *testing.T) {
	for name, tc := range map[string]struct {
		base, pod *corev1.Pod
		want      string
	}{
		"first status": {
			fakecluster.PublishedPod(), fakecluster.ReportedPod(),
			`{"metadata":{"annotations":{"sandbox.cocoonstack.io/claim-id":"sb_1"},"resourceVersion":"7","uid":"uid-1"},"status":{` +
				`"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"example.com/gate"},{"type":"Ready"}],` +
				`"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-07-27T02:16:00Z","status":"True","type":"Ready"}],` +
				`"phase":"Running","podIP":"10.0.0.5","podIPs":[{"ip":"10.0.0.5"}],"startTime":"2026-07-27T02:16:00Z"}}`,
		},
		"nothing changed": {fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(), ""},
		"the claim changed, the status did not": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(func(p *corev1.Pod) { p.Annotations["sandbox.cocoonstack.io/claim-id"] = "sb_2" }),
			`{"metadata":{"annotations":{"sandbox.cocoonstack.io/claim-id":"sb_2"},"resourceVersion":"7","uid":"uid-1"}}`,
		},
		"no annotation removes none": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(func(p *corev1.Pod) { p.Annotations = nil; p.Status.Reason = "Why" }),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"reason":"Why"}}`,
		},
		"a stale address is replaced": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(func(p *corev1.Pod) {
				p.Status.PodIP, p.Status.PodIPs = "10.0.0.6", []corev1.PodIP{{IP: "10.0.0.6"}}
			}),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"$setElementOrder/podIPs":[{"ip":"10.0.0.6"}],"podIP":"10.0.0.6",` +
				`"podIPs":[{"ip":"10.0.0.6"},{"$patch":"delete","ip":"10.0.0.5"}]}}`,
		},
		"a failed create, as the library reports it": {
			fakecluster.PublishedPod(), fakecluster.PublishedPod(func(p *corev1.Pod) {
				p.ResourceVersion = ""
				p.Status.Reason, p.Status.Message = "ProviderFailed", "no warm capacity"
			}),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"message":"no warm capacity","reason":"ProviderFailed"}}`,
		},
		"the reason goes when the Pod runs": {
			fakecluster.PublishedPod(fakecluster.Running, func(p *corev1.Pod) { p.Status.Reason, p.Status.Message = "ProviderFailed", "no warm capacity" }), fakecluster.ReportedPod(),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"message":null,"reason":null}}`,
		},
		"back to pending takes the node's conditions along, nobody else's": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"example.com/gate"}],` +
				`"conditions":[{"$patch":"delete","type":"Ready"}],"phase":"Pending","podIP":null,` +
				`"podIPs":null,"startTime":null}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := statusPatch(tc.base, tc.pod)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Fatalf("patch (-want +got):\n%s", diff)
			}
			if got != nil {
				checkApplied(t, tc.base, tc.pod, got)
			}
		})
	}
}

// checkApplied applies the patch as the API server does, and checks that the
// result needs no second patch and that nothing of others was touched.
func checkApplied(t *testing.T, base, pod *corev1.Pod, patch []byte) {
	t.Helper()
	original, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := strategicpatch.StrategicMergePatch(original, patch, corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var result corev1.Pod
	if err := json.Unmarshal(raw, &result); err != nil {
		t.Fatal(err)
	}
	if again, err := statusPatch(&result, pod); err != nil || again != nil {
		t.Errorf("a second patch is due: %s, %v", again, err)
	}
	if diff := cmp.Diff(pod.Status.PodIPs, result.Status.PodIPs); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if result.Annotations["user"] != "note" || result.Labels["app"] != "user" || len(result.Finalizers) != 1 {
		t.Errorf("metadata of others changed: %+v", result.ObjectMeta)
	}
	if result.Status.QOSClass != corev1.PodQOSBestEffort {
		t.Error("the QoS class was lost")
	}
	foreign, early := 0, fakecluster.PublishedPod().Status.Conditions[0].LastTransitionTime
	for _, c := range result.Status.Conditions {
		if (c.Type == "example.com/gate" || c.Type == corev1.PodScheduled) && c.LastTransitionTime.Equal(&early) {
			foreign++
		}
	}
	if foreign != 2 {
		t.Errorf("conditions of others changed: %+v", result.Status.Conditions)
	}
}
