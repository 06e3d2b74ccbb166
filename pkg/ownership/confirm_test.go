// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// cluster is the answer to Verify.
type cluster struct {
	err   error
	asked int
}

func (c *cluster) Verify(context.Context) error {
	c.asked++
	return c.err
}

// Every verdict that releases is confirmed, and none of the others costs a request.
func TestReleasesAreConfirmed(t *testing.T) {
	other := fmt.Errorf("%w: cluster d", place.ErrOtherCluster)
	away := errors.New("connection refused")
	for name, held := range map[string][]*unstructured.Unstructured{
		"gone":     nil,
		"replaced": {sandbox(func(u *unstructured.Unstructured) { u.SetUID("U2") })},
		"deleting": {sandbox(deleting)},
		"expired":  {sandbox(conditions(ready("False", "SandboxExpired", 3)))},
	} {
		for reason, err := range map[string]error{
			"the answer came from another cluster":             other,
			"the API server's identity could not be confirmed": away,
			"": nil,
		} {
			t.Run(name+" "+reason, func(t *testing.T) {
				confirm := &cluster{err: err}
				a, _, _ := fakesIn(confirm, held...)
				checkConfirmed(t, a.Owner(t.Context(), "team-red", owner), confirm, reason)
			})
		}
	}
	t.Run("bare Pod", func(t *testing.T) {
		confirm := &cluster{err: other}
		a, _, _ := fakesIn(confirm)
		checkConfirmed(t, a.Pod(t.Context(), "team-red", "notebook-a", "U1"), confirm, "the answer came from another cluster")
	})
	t.Run("alive", func(t *testing.T) {
		confirm := &cluster{err: other}
		a, _, pods := fakesIn(confirm, sandbox(nil))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-red", Name: "notebook-a", UID: "U1"}}
		if err := pods.Tracker().Add(pod); err != nil {
			t.Fatal(err)
		}
		for _, d := range []ownership.Decision{a.Owner(t.Context(), "team-red", owner), a.Pod(t.Context(), "team-red", "notebook-a", "U1")} {
			if d.Release || d.Cause != ownership.Alive || confirm.asked != 0 {
				t.Errorf("decision %+v after %d confirmations", d, confirm.asked)
			}
		}
	})
}

// checkConfirmed wants a release that was confirmed, or with a reason one that was
// not and keeps.
func checkConfirmed(t *testing.T, d ownership.Decision, c *cluster, reason string) {
	t.Helper()
	if c.asked != 1 {
		t.Errorf("confirmed %d times, want once", c.asked)
	}
	switch {
	case reason == "":
		if !d.Release || !d.Cause.Releases() {
			t.Errorf("decision %+v, want a release", d)
		}
	case d.Release || d.Cause != ownership.Unverifiable || d.Reason != reason || !errors.Is(d.Err, c.err):
		t.Errorf("decision %+v, want it kept because %q", d, reason)
	}
}
