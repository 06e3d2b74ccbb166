// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// eventComponent names this daemon as the source of events.
const eventComponent = "vk-sandbox"

// NewRecorder returns a recorder that writes events to the API server, from component
// vk-sandbox on host nodeName, and a function that stops it. client-go aggregates equal
// events, and drops events while the API server is unreachable. With onlyWarnings, Normal
// events are dropped.
func NewRecorder(ctx context.Context, client kubernetes.Interface, nodeName string, onlyWarnings bool) (recorder record.EventRecorder, stop func()) {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder = broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: eventComponent, Host: nodeName})
	if onlyWarnings {
		recorder = warningsOnly{recorder}
	}
	return recorder, broadcaster.Shutdown
}

// newPods drops the event of a create for a Pod that already ran. To the library, a
// starting daemon creates all of the node's Pods, although nothing happened to them.
type newPods struct{ record.EventRecorder }

// podCreated is the library's reason for a successful create.
const podCreated = "ProviderCreateSuccess"

func (r newPods) Event(object runtime.Object, kind, reason, message string) {
	if pod, ok := object.(*corev1.Pod); ok && reason == podCreated && pod.Status.Phase == corev1.PodRunning {
		return
	}
	r.EventRecorder.Event(object, kind, reason, message)
}

// warningsOnly drops Normal events.
type warningsOnly struct{ record.EventRecorder }

func (r warningsOnly) Event(object runtime.Object, kind, reason, message string) {
	if kind != corev1.EventTypeNormal {
		r.EventRecorder.Event(object, kind, reason, message)
	}
}

func (r warningsOnly) Eventf(object runtime.Object, kind, reason, format string, args ...any) {
	if kind != corev1.EventTypeNormal {
		r.EventRecorder.Eventf(object, kind, reason, format, args...)
	}
}

func (r warningsOnly) AnnotatedEventf(object runtime.Object, annotations map[string]string, kind, reason, format string, args ...any) {
	if kind != corev1.EventTypeNormal {
		r.EventRecorder.AnnotatedEventf(object, annotations, kind, reason, format, args...)
	}
}
