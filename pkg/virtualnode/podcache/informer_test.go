// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

// Of a Pod's spec the cache has what the node's answers are made of.
func TestTheCacheHasWhatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pod := fakecluster.PublishedPod(func(p *corev1.Pod) {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
			p.Spec = corev1.PodSpec{
				NodeName:      fakecluster.NodeName,
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{
					Name: "agent", Image: "python", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}, VolumeMounts: []corev1.VolumeMount{{Name: "token"}},
				}},
				InitContainers: []corev1.Container{{
					Name: "mesh", Image: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Command: []string{"a"},
				}},
				EphemeralContainers: []corev1.EphemeralContainer{{
					EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox", TTY: true}, TargetContainerName: "agent",
				}},
				ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "example.com/gate"}},
				Volumes: []corev1.Volume{{Name: "token"}, {Name: "data", VolumeSource: corev1.VolumeSource{
					PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data-box"},
				}}},
				Tolerations: []corev1.Toleration{{Key: "a"}},
			}
		})
		want := pod.DeepCopy()
		want.ManagedFields = nil
		want.Spec = corev1.PodSpec{
			NodeName: fakecluster.NodeName, RestartPolicy: corev1.RestartPolicyNever,
			Containers:     []corev1.Container{{Name: "agent", Image: "python"}},
			InitContainers: []corev1.Container{{Name: "mesh", Image: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			EphemeralContainers: []corev1.EphemeralContainer{{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger", Image: "busybox"},
			}},
			ReadinessGates: pod.Spec.ReadinessGates,
			Volumes:        pod.Spec.Volumes[1:],
		}
		pods := NewInformer(fake.NewClientset(pod), fakecluster.NodeName)
		pods.Start(t.Context())
		synctest.Wait()
		got, err := pods.SharedLister().Pods(pod.Namespace).Get(pod.Name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the cached Pod (-want +got):\n%s", diff)
		}
	})
}
