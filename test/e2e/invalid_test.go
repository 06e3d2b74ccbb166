// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// TestInvalidPods checks that an event names the annotation and the error, and that
// nothing is claimed.
func TestInvalidPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotation, value string
		missing           bool
		message           string
	}{
		"another runtime":        {annotation: podcontract.AnnotationRuntime, value: "gvisor", message: "gvisor"},
		"no template":            {annotation: podcontract.AnnotationTemplate, missing: true, message: "missing"},
		"a lease that is a word": {annotation: podcontract.AnnotationTTLSeconds, value: "soon", message: "soon"},
		"a negative lease":       {annotation: podcontract.AnnotationTTLSeconds, value: "-1", message: "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			pod := newPod("invalid")
			pod.Annotations[test.annotation] = test.value
			if test.missing {
				delete(pod.Annotations, test.annotation)
			}
			f.createPod(pod)
			f.warning("invalid", test.annotation, test.message)
			f.waitPod("invalid", "Pending", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending })
			if r := f.history("invalid"); len(r.claims) != 0 {
				t.Errorf("claimed %v for an invalid Pod", r.claims)
			}
		})
	}
}

// TestUnknownTemplate uses a template that only sandboxd can reject.
func TestUnknownTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	pod := newPod("unknown")
	pod.Annotations[podcontract.AnnotationTemplate] = "no-such-template"
	f.createPod(pod)
	f.warning("unknown", "request refused", "template")
	if r := f.history("unknown"); len(r.claims) != 0 {
		t.Errorf("claimed %v for an unknown template", r.claims)
	}
}
