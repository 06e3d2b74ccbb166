// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
)

// handOver gives a Pod another controller; empty means none.
func handOver(owner types.UID) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.OwnerReferences = fakes.ControlledBy(owner) }
}

func lingering(p *corev1.Pod) { p.Finalizers = []string{"example.com/audit"} }

// notReady reports whether the Pod's condition Ready is False.
func notReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse
	})
}

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

// uid is the UID of a Pod's owner, by the Pod's name or number.
func uid(of any) types.UID { return types.UID(fmt.Sprint(of)) }
