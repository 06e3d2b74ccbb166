// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

var patchedAt = time.Date(2026, 7, 27, 5, 0, 0, 123456789, time.FixedZone("", 60*60)) // 04:00 in UTC

// notReady changes the Pod's condition Ready to False.
func notReady(reason string, since time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i := range p.Status.Conditions {
			if c := &p.Status.Conditions[i]; c.Type == corev1.PodReady {
				c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, reason, metav1.NewTime(since)
			}
		}
	}
}

func TestStatusPatch(t *testing.T) {
	started := time.Date(2026, 7, 27, 2, 16, 0, 0, time.UTC) // as reported
	const readyPatch = `{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{` +
		`"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"example.com/gate"},{"type":"Ready"}],"conditions":[{`
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
		"Ready again since now": {
			fakecluster.PublishedPod(fakecluster.Running, notReady("ReadinessGatesNotReady", started)), fakecluster.ReportedPod(),
			readyPatch + `"lastTransitionTime":"2026-07-27T04:00:00Z","reason":null,"status":"True","type":"Ready"}]}}`,
		},
		"not Ready since the reported time": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(notReady("Ended", started.Add(time.Hour))),
			readyPatch + `"lastTransitionTime":"2026-07-27T03:16:00Z","reason":"Ended","status":"False","type":"Ready"}]}}`,
		},
		"not Ready for another reason": {
			fakecluster.PublishedPod(fakecluster.Running, notReady("One", started)),
			fakecluster.ReportedPod(notReady("Two", started.Add(time.Hour))),
			readyPatch + `"reason":"Two","type":"Ready"}]}}`,
		},
		"a new condition without a time": {
			fakecluster.PublishedPod(), fakecluster.PublishedPod(func(p *corev1.Pod) {
				p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
			}),
			readyPatch + `"lastProbeTime":null,"lastTransitionTime":"2026-07-27T04:00:00Z","status":"False","type":"Ready"}]}}`,
		},
		"another generation": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.ReportedPod(func(p *corev1.Pod) { p.Status.ObservedGeneration = 2 }),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"observedGeneration":2}}`,
		},
		"back to pending takes the node's conditions along, nobody else's": {
			fakecluster.PublishedPod(fakecluster.Running), fakecluster.PublishedPod(func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} }),
			`{"metadata":{"resourceVersion":"7","uid":"uid-1"},"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"},{"type":"example.com/gate"}],` +
				`"conditions":[{"$patch":"delete","type":"Ready"}],"phase":"Pending","podIP":null,` +
				`"podIPs":null,"startTime":null}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := statusPatch(tc.base, tc.pod, patchedAt)
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
	if again, err := statusPatch(&result, pod, patchedAt.Add(time.Hour)); err != nil || again != nil {
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
