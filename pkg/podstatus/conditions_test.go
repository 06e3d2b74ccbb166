// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// gated is a Pod with two readiness gates and those published conditions.
func gated(published ...corev1.PodCondition) *corev1.Pod {
	pod := podOf(1)
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}, {ConditionType: "example.com/dns"}}
	pod.Status.Conditions = published
	return pod
}

func conditionOf(t *testing.T, s corev1.PodStatus, kind corev1.PodConditionType) corev1.PodCondition {
	t.Helper()
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	t.Fatalf("no condition %s in %+v", kind, s.Conditions)
	return corev1.PodCondition{}
}

// The reason and the messages are those of a kubelet.
func TestReadyFollowsTheReadinessGates(t *testing.T) {
	gate := func(name corev1.PodConditionType, status corev1.ConditionStatus) corev1.PodCondition {
		return corev1.PodCondition{Type: name, Status: status}
	}
	for name, tc := range map[string]struct {
		pod     *corev1.Pod
		message string // empty: the Pod is ready
	}{
		"no gates":  {podOf(1), ""},
		"both True": {gated(gate("example.com/lb", "True"), gate("example.com/dns", "True")), ""},
		"none set": {gated(), `corresponding condition of pod readiness gate "example.com/lb" does not exist., ` +
			`corresponding condition of pod readiness gate "example.com/dns" does not exist.`},
		"one is False":   {gated(gate("example.com/lb", "False"), gate("example.com/dns", "True")), `the status of pod readiness gate "example.com/lb" is not "True", but False`},
		"one is Unknown": {gated(gate("example.com/dns", "Unknown"), gate("example.com/lb", "True")), `the status of pod readiness gate "example.com/dns" is not "True", but Unknown`},
		"one is neither": {gated(gate("example.com/dns", ""), gate("example.com/lb", "True")), `the status of pod readiness gate "example.com/dns" is not "True", but `},
	} {
		t.Run(name, func(t *testing.T) {
			if got := podstatus.UnreadyGates(tc.pod); got != tc.message {
				t.Errorf("problem %q, want %q", got, tc.message)
			}
			s := podstatus.Running(tc.pod, bound)
			want := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: *s.StartTime}
			if tc.message != "" {
				want.Status, want.Reason, want.Message = corev1.ConditionFalse, "ReadinessGatesNotReady", tc.message
			}
			if diff := cmp.Diff(want, conditionOf(t, s, corev1.PodReady)); diff != "" {
				t.Errorf("Ready (-want +got):\n%s", diff)
			}
			for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodInitialized, corev1.PodReadyToStartContainers} {
				if c := conditionOf(t, s, kind); c.Status != corev1.ConditionTrue {
					t.Errorf("the gates also change %+v", c)
				}
			}
			ended := conditionOf(t, failed(tc.pod), corev1.PodReady)
			if ended.Status != corev1.ConditionFalse || ended.Reason != podstatus.ReasonLeaseExpired || ended.Message != "" {
				t.Errorf("after the end: %+v", ended)
			}
		})
	}
}

func TestAPodWithoutASandboxIsNotReady(t *testing.T) {
	pod := podOf(3)
	pod.Spec.ReadinessGates = gated().Spec.ReadinessGates
	s := podstatus.Awaiting(pod, "no capacity")
	var want []corev1.PodCondition
	for _, kind := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady} {
		want = append(want, corev1.PodCondition{Type: kind, ObservedGeneration: 4, Status: corev1.ConditionFalse, Reason: podstatus.ReasonAwaitingClaim})
	}
	want = append(want, corev1.PodCondition{Type: corev1.PodScheduled, ObservedGeneration: 4, Status: corev1.ConditionTrue})
	if diff := cmp.Diff(want, s.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if s.Phase != corev1.PodPending || s.Reason != podstatus.ReasonAwaitingClaim || s.Message != "no capacity" || s.ObservedGeneration != 4 {
		t.Errorf("status %+v", s)
	}
	if diff := cmp.Diff(podstatus.Running(pod, bound).EphemeralContainerStatuses, s.EphemeralContainerStatuses); diff != "" || len(s.ContainerStatuses) > 0 {
		t.Errorf("debug containers (-with a claim +without):\n%s\nother containers: %v", diff, s.ContainerStatuses)
	}
}

// The container statuses of a Pod that ran prevent a second sandbox for it.
func TestACompletedStatusKeepsTheRest(t *testing.T) {
	pod := podOf(1)
	published := podstatus.Running(pod, bound)
	published.Reason = "ProviderFailed"
	s := podstatus.Unclaimed(pod, published)
	if id := podstatus.ClaimID(&corev1.Pod{Status: s}); id != "sb_1" || s.PodIP != published.PodIP {
		t.Errorf("claim %q, IP address %q", id, s.PodIP)
	}
	if c := conditionOf(t, s, corev1.PodReady); c.Status != corev1.ConditionFalse || c.Reason != "ProviderFailed" || !c.LastTransitionTime.Equal(&metav1.Time{}) {
		t.Errorf("Ready: %+v", c)
	}
}

func TestConditionsOfTheNode(t *testing.T) {
	for kind, want := range map[corev1.PodConditionType]bool{
		corev1.PodReady: true, corev1.ContainersReady: true, corev1.PodInitialized: true, corev1.PodReadyToStartContainers: true,
		corev1.PodScheduled: false, corev1.DisruptionTarget: false, "example.com/gate": false,
	} {
		if got := podstatus.SetByNode(kind); got != want {
			t.Errorf("%s: %t", kind, got)
		}
	}
}
