// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

func scheduledAt() metav1.Time { return metav1.NewTime(time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)) }

func runningSince() *metav1.Time { return new(metav1.NewTime(scheduledAt().Add(time.Minute))) }

func podReady() corev1.PodCondition {
	return corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: *runningSince()}
}

// PublishedPod is a scheduled Pod as the API server has it, with the fields of other
// clients.
func PublishedPod(change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "my-sandbox", UID: "uid-1", ResourceVersion: "7",
			Labels:      map[string]string{"app": "user"},
			Annotations: map[string]string{"user": "note"},
			Finalizers:  []string{"example.com/hold"},
		},
		Spec: corev1.PodSpec{NodeName: NodeName},
		Status: corev1.PodStatus{
			Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort,
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: scheduledAt()},
				{Type: "example.com/gate", Status: corev1.ConditionTrue, LastTransitionTime: scheduledAt()},
			},
		},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// StoredPod returns the current state of the [PublishedPod] in the API server.
func StoredPod(t *testing.T, client kubernetes.Interface) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "my-sandbox", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// ReportedPod returns the same Pod as a provider reports it Running.
func ReportedPod(change ...func(*corev1.Pod)) *corev1.Pod {
	return PublishedPod(append([]func(*corev1.Pod){func(p *corev1.Pod) {
		p.Labels, p.Finalizers = map[string]string{"app": "stale"}, nil
		p.Annotations = map[string]string{"user": "stale", podcontract.AnnotationClaimID: "sb_1"}
		p.Status = corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.5", PodIPs: []corev1.PodIP{{IP: "10.0.0.5"}}, StartTime: runningSince(),
			Conditions: []corev1.PodCondition{
				podReady(),
				{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *runningSince()},
			},
		}
	}}, change...)...)
}

// Running changes a [PublishedPod] to its state after [ReportedPod] has been published.
func Running(p *corev1.Pod) {
	p.Annotations[podcontract.AnnotationClaimID] = "sb_1"
	p.Status.Phase, p.Status.PodIP, p.Status.StartTime = corev1.PodRunning, "10.0.0.5", runningSince()
	p.Status.PodIPs = []corev1.PodIP{{IP: "10.0.0.5"}}
	p.Status.Conditions = append(p.Status.Conditions, podReady())
}
