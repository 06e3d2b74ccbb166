// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// update changes the Pod a as another client.
func update(t *testing.T, client *fake.Clientset, change func(*corev1.Pod)) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	change(pod)
	if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func stored(t *testing.T, client *fake.Clientset) *corev1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.PodCondition {
	for _, c := range pod.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.PodCondition{}
}

func podPatches(client *fake.Clientset) (n int) {
	for _, p := range fakecluster.Patches(client) {
		if p.GetResource().Resource == "pods" {
			n++
		}
	}
	return n
}

// One change of a gate is one write, whether the watch is in time or not.
func TestAReadinessGateIsFollowedByOneWrite(t *testing.T) {
	const gate = "example.com/gate"
	for name, delay := range map[string]time.Duration{"watch in time": 0, "watch late": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(sandboxPod("a", "P1", func(p *corev1.Pod) {
					p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: gate}}
				}))
				fakecluster.WithVersions(client)
				if delay > 0 {
					delayPods(client, delay)
				}
				node := &fakeSandboxd{}
				fullNode(t, client, node)
				time.Sleep(5 * time.Minute)
				if pod := stored(t, client); pod.Status.Phase != corev1.PodRunning || condition(pod, corev1.PodReady).Reason != "ReadinessGatesNotReady" ||
					condition(pod, corev1.ContainersReady).Status != corev1.ConditionTrue {
					t.Fatalf("status %+v, want it Running and not ready", pod.Status)
				}
				for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionTrue} {
					client.ClearActions()
					changed := time.Now()
					update(t, client, func(p *corev1.Pod) {
						p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == gate })
						p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: gate, Status: status, Message: "set by its controller"})
					})
					time.Sleep(delay + time.Second)
					pod := stored(t, client)
					ready := condition(pod, corev1.PodReady)
					if ready.Status != status || ready.LastTransitionTime.Time.Before(changed.Truncate(time.Second)) {
						t.Errorf("%s after the gate became %s: %+v", delay+time.Second, status, ready)
					}
					if c := condition(pod, gate); c.Status != status || c.Message != "set by its controller" {
						t.Errorf("the gate's own condition was changed: %+v", c)
					}
					time.Sleep(10 * time.Minute)
					if n := podPatches(client); n != 1 {
						t.Errorf("%d writes for one change", n)
					}
				}
				if claims, released := node.counts(); claims != 1 || released != 0 {
					t.Errorf("%d claims, %d releases", claims, released)
				}
			})
		})
	}
}

// kubectl debug waits until the container has a status that is not waiting.
func TestADebugContainerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset(sandboxPod("a", "P1", func(p *corev1.Pod) { p.Generation = 1 }))
		fakecluster.WithVersions(client)
		node := &fakeSandboxd{}
		fullNode(t, client, node)
		time.Sleep(time.Minute)
		client.ClearActions()
		update(t, client, func(p *corev1.Pod) {
			p.Generation = 2
			p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"},
			}}
		})
		time.Sleep(time.Second)
		status := stored(t, client).Status
		if status.Phase != corev1.PodRunning || status.ObservedGeneration != 2 || len(status.EphemeralContainerStatuses) != 1 ||
			status.EphemeralContainerStatuses[0].State.Terminated == nil {
			t.Errorf("status %+v", status)
		}
		time.Sleep(10 * time.Minute)
		if claims, _ := node.counts(); claims != 1 || podPatches(client) != 1 {
			t.Errorf("%d claims and %d writes", claims, podPatches(client))
		}
	})
}

func TestAPersistentVolumeIsRefused(t *testing.T) {
	for policy, phase := range map[corev1.RestartPolicy]corev1.PodPhase{corev1.RestartPolicyAlways: corev1.PodPending, corev1.RestartPolicyNever: corev1.PodFailed} {
		t.Run("restartPolicy "+string(policy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(sandboxPod("a", "P1", func(p *corev1.Pod) {
					p.Spec.RestartPolicy = policy
					p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
						PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-box"},
					}}}
				}))
				fakecluster.WithVersions(client)
				node := &fakeSandboxd{}
				table := fullNode(t, client, node)
				time.Sleep(time.Hour)
				pod := stored(t, client)
				if pod.Status.Phase != phase || !strings.Contains(pod.Status.Message, "volume data (PersistentVolumeClaim data-box)") {
					t.Errorf("%s with message %q", pod.Status.Phase, pod.Status.Message)
				}
				for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady, corev1.PodInitialized} {
					if c := condition(pod, kind); c.Status != corev1.ConditionFalse || c.Reason != pod.Status.Reason {
						t.Errorf("%s: %+v", kind, c)
					}
				}
				claims, _ := node.counts()
				if _, held := table.Get("default/a"); held || claims != 0 {
					t.Errorf("holds a claim: %t, after %d claims", held, claims)
				}
				if n := podPatches(client); n > 2 {
					t.Errorf("%d writes within an hour", n)
				}
			})
		})
	}
}
