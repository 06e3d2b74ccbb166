// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// How the API server makes a name from generateName (k8s.io/apiserver/pkg/storage/names):
// it cuts the prefix, and appends random characters.
const (
	maxGeneratedPrefix = 58
	randomLength       = 5
	randomLetters      = "bcdfghjklmnpqrstvwxz"
	randomDigits       = "2456789"
)

// randomName reports whether no later Pod of the controller will have the name of this
// one: the API server made the name, and the controller is of a kind that lets it do so
// for every Pod. Other controllers may give a name again: an agent-sandbox Sandbox, a
// StatefulSet, and some that make random names themselves and keep them.
func randomName(pod *corev1.Pod, controller *claims.Owner) bool {
	if controller == nil || pod.GenerateName == "" {
		return false
	}
	switch schema.FromAPIVersionAndKind(controller.APIVersion, controller.Kind).GroupKind() {
	case schema.GroupKind{Group: "apps", Kind: "ReplicaSet"}, schema.GroupKind{Group: "apps", Kind: "DaemonSet"},
		schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Kind: "ReplicationController"}:
	default:
		return false
	}
	prefix := pod.GenerateName[:min(len(pod.GenerateName), maxGeneratedPrefix)]
	suffix, found := strings.CutPrefix(pod.Name, prefix)
	// Digits alone may be an ordinal.
	return found && len(suffix) == randomLength && strings.Trim(suffix, randomLetters+randomDigits) == "" && strings.ContainsAny(suffix, randomLetters)
}
