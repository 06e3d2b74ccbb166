// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// What the API shows is not published, unless something else has been: that may be
// on its way there still.
func TestPublishWhatTheAPIDoesNotShow(t *testing.T) {
	table, err := claims.Open(claims.OS(), filepath.Join(t.TempDir(), "claims.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	shown := ""
	p := &Provider{table: table, shows: func(pod *corev1.Pod) bool { return pod.Status.Message == shown }}
	p.NotifyPods(t.Context(), func(pod *corev1.Pod) { told = append(told, pod.Status.Message) })
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "agents", Name: "one", UID: "uid-1"}}
	key := podcontract.Key(pod)

	p.pods.track(pod)
	for _, step := range []struct{ shown, status string }{
		{"first", "first"}, // as after a restart
		{"first", "second"},
		{"first", "first"}, // the second may follow yet
	} {
		shown = step.shown
		p.pods.wait(key, step.status)
		p.publishPod(key)
	}
	if want := []string{"second", "first"}; !slices.Equal(told, want) {
		t.Errorf("published %q, want %q", told, want)
	}
}
