// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// newPod is a sandbox Pod that nothing has been published of; a bare one without an
// owner.
func newPod(name string, uid, owner types.UID) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, UID: uid, OwnerReferences: controlledBy(owner),
			Annotations: map[string]string{podcontract.AnnotationTemplate: "rt"},
		},
		Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "agent"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func controlledBy(owner types.UID) []metav1.OwnerReference {
	if owner == "" {
		return nil
	}
	return []metav1.OwnerReference{{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "of-" + string(owner), UID: owner, Controller: new(true)}}
}

// handOver gives a Pod another controller; none if it is empty.
func handOver(owner types.UID) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences = controlledBy(owner) }
}

func lingering(p *corev1.Pod) { p.Finalizers = []string{"example.com/audit"} }

// uidOf is the UID of an owner; empty for none.
func uidOf(o *claims.Owner) types.UID {
	if o == nil {
		return ""
	}
	return o.UID
}

// replaceUIDs puts a Pod's number and its owner into a row of the table's file.
func replaceUIDs(row, number, owner string) string {
	return strings.ReplaceAll(strings.Replace(row, "P%", "P"+number, 1), "%", owner)
}

// uid is the UID of the owner of a Pod that is known by its name or number.
func uid(of any) types.UID { return types.UID(fmt.Sprint(of)) }
