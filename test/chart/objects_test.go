// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type objects []runtime.Object

func all[T runtime.Object](o objects) []T {
	var found []T
	for _, object := range o {
		if typed, ok := object.(T); ok {
			found = append(found, typed)
		}
	}
	return found
}

func one[T runtime.Object](t *testing.T, o objects) T {
	t.Helper()
	found := all[T](o)
	if len(found) != 1 {
		t.Fatalf("rendered %d objects of type %T, want 1", len(found), *new(T))
	}
	return found[0]
}

func daemonSet(t *testing.T, o objects) *appsv1.DaemonSet {
	t.Helper()
	return one[*appsv1.DaemonSet](t, o)
}

func podSpec(t *testing.T, o objects) corev1.PodSpec {
	t.Helper()
	return daemonSet(t, o).Spec.Template.Spec
}

func container(t *testing.T, o objects) corev1.Container {
	t.Helper()
	containers := podSpec(t, o).Containers
	if len(containers) != 1 {
		t.Fatalf("%d containers, want 1", len(containers))
	}
	return containers[0]
}
