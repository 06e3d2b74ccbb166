// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// CheckRuntime returns an [*InvalidAnnotationError] if the Pod requests a runtime that
// this node does not serve.
func CheckRuntime(pod *corev1.Pod) error {
	if r, ok := pod.Annotations[AnnotationRuntime]; ok && r != RuntimeSandboxd {
		return &InvalidAnnotationError{AnnotationRuntime, fmt.Sprintf("%s is not served by this node; it serves %q only", quote(r), RuntimeSandboxd)}
	}
	return nil
}

// ClaimRequest builds a Pod's claim request from its annotations. The claim reference is
// the Pod's key. The error is an [*InvalidAnnotationError] or a [*PersistentVolumeError].
func ClaimRequest(pod *corev1.Pod) (sandboxd.ClaimRequest, error) {
	if err := CheckRuntime(pod); err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	if err := checkVolumes(pod); err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	pool, err := PoolKey(pod.Annotations)
	if err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	ttl, named, err := TTLSeconds(pod.Annotations)
	if err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	if !named {
		ttl = DefaultTTLSeconds
	}
	return sandboxd.ClaimRequest{Template: pool.Template, Net: pool.Net, Size: pool.Size, TTLSeconds: ttl, ClaimRef: Key(pod)}, nil
}

// Key is the Pod key, <namespace>/<name>: the claims table's key and the
// claim_ref that sandboxd echoes.
func Key(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }
