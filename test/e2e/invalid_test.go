// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// TestInvalidPods: the event names the annotation and says what is wrong with
// it, and nothing was claimed.
func TestInvalidPods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		annotation, value string
		missing           bool
		says              string
	}{
		"another runtime":        {annotation: podcontract.AnnotationRuntime, value: "gvisor", says: "gvisor"},
		"no template":            {annotation: podcontract.AnnotationTemplate, missing: true, says: "missing"},
		"a lease that is a word": {annotation: podcontract.AnnotationTTLSeconds, value: "soon", says: "soon"},
		"a negative lease":       {annotation: podcontract.AnnotationTTLSeconds, value: "-1", says: "-1"},
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
			f.warning("invalid", test.annotation, test.says)
			f.waitPod("invalid", "Pending", func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodPending })
			if r := f.history("invalid"); len(r.claims) != 0 {
				t.Errorf("claimed %v for an invalid Pod", r.claims)
			}
		})
	}
}

// TestUnknownTemplate is an error that only sandboxd can see.
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
