// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// InvalidPodError says that a Pod can never be served as it stands. No claim
// is made for it.
type InvalidPodError struct {
	// Annotation is the key that is missing or wrong.
	Annotation string
	// Problem says what is wrong and what to write instead.
	Problem string
}

// Error implements error.
func (e *InvalidPodError) Error() string {
	return fmt.Sprintf("annotation %s: %s", e.Annotation, e.Problem)
}

// CheckRuntime returns an [*InvalidPodError] when the Pod asks for a runtime
// that this node does not serve.
func CheckRuntime(pod *corev1.Pod) error {
	if r, ok := pod.Annotations[AnnotationRuntime]; ok && r != RuntimeSandboxd {
		return &InvalidPodError{AnnotationRuntime, fmt.Sprintf("%s is not served by this node; it serves %q only", quote(r), RuntimeSandboxd)}
	}
	return nil
}

// ClaimRequest reads the claim that a Pod asks for from its annotations. The
// claim reference is the Pod's key. The error is an [*InvalidPodError].
func ClaimRequest(pod *corev1.Pod) (sandboxd.ClaimRequest, error) {
	if err := CheckRuntime(pod); err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	template := pod.Annotations[AnnotationTemplate]
	if template == "" {
		return sandboxd.ClaimRequest{}, &InvalidPodError{AnnotationTemplate, "missing; it names the sandboxd template and has no default"}
	}
	ttl, err := ttlSeconds(pod)
	if err != nil {
		return sandboxd.ClaimRequest{}, err
	}
	return sandboxd.ClaimRequest{
		Template:   template,
		Net:        pod.Annotations[AnnotationNet],
		Size:       pod.Annotations[AnnotationSize],
		TTLSeconds: ttl,
		ClaimRef:   Key(pod),
	}, nil
}

// Key is the Pod key, <namespace>/<name>: the claims table's key and the
// claim_ref that sandboxd echoes.
func Key(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

func ttlSeconds(pod *corev1.Pod) (int64, error) {
	text, ok := pod.Annotations[AnnotationTTLSeconds]
	if !ok {
		return DefaultTTLSeconds, nil
	}
	ttl, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ttl < 0 {
		return 0, &InvalidPodError{AnnotationTTLSeconds, fmt.Sprintf("%s is not a lease; want a whole number of seconds, 0 or more", quote(text))}
	}
	return ttl, nil
}

// quote shows a value from a Pod in a message, bounded: an annotation may be
// as long as 256 KiB.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
