// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// podName is the name of a check's Pods, and the value of their name label.
const podName = "vk-sandbox-check"

// pod returns a bare sandbox Pod for the node. The scheduler binds it like any other. It
// requests no privilege and no account; virtual nodes ignore both, but a namespace's
// policies may require it. The name is chosen here, so that a Pod whose creation was not
// answered can be deleted.
func (r *run) pod(node string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      podName + "-" + rand.String(5),
			Namespace: r.Namespace,
			Labels:    map[string]string{"app.kubernetes.io/name": podName},
			Annotations: map[string]string{
				podcontract.AnnotationRuntime:    podcontract.RuntimeSandboxd,
				podcontract.AnnotationTemplate:   r.Template,
				podcontract.AnnotationTTLSeconds: leaseSeconds(r.Timeout),
			},
		},
		Spec: corev1.PodSpec{
			Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchFields: []corev1.NodeSelectorRequirement{{
						Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
					}},
				}}},
			}},
			Tolerations: []corev1.Toleration{{
				Key: podcontract.TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
			}},
			// A claim that cannot be made now is retried until the timeout.
			RestartPolicy:                corev1.RestartPolicyAlways,
			AutomountServiceAccountToken: ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   ptr.To(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "sandbox", Image: r.Template,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false),
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
	for key, value := range map[string]string{podcontract.AnnotationNet: r.Net, podcontract.AnnotationSize: r.Size} {
		if value != "" {
			pod.Annotations[key] = value
		}
	}
	if r.Owner != nil {
		pod.OwnerReferences = []metav1.OwnerReference{*r.Owner}
	}
	return pod
}

// leaseSeconds is a lease slightly longer than the check: if nobody deletes the Pod,
// sandboxd ends the claim.
func leaseSeconds(timeout time.Duration) string {
	return strconv.Itoa(int(math.Ceil((timeout + 2*cleanupTime).Seconds())))
}
