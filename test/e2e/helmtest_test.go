// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// TestHelmTest runs the chart's test, which claims and releases a VM on every virtual node
// and fails if it cannot. Only a failed test leaves its Pod behind. TestHelmTest changes
// the release, so it runs alone.
func TestHelmTest(t *testing.T) {
	s := shared
	before := checkVMs(t, s)
	out, err := helmTest(t, s)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, h := range s.info.Hosts {
		for _, step := range []string{"created Pod ", "Running at " + h.IP, "is shown Bound", "is deleted and gone", "is released"} {
			if !hasLine(out, h.VirtualNode()+": ", step) {
				t.Errorf("no line has %q for %s:\n%s", step, h.VirtualNode(), out)
			}
		}
	}
	after := checkVMs(t, s)
	if made := len(after) - len(before); made != len(s.info.Hosts) {
		t.Errorf("the test made %d claims on %d hosts", made, len(s.info.Hosts))
	}
	for id, end := range after {
		if end.Type != history.EventReleased || end.By != history.BySandbox {
			t.Errorf("VM %s was %q by %q, want released by its own token", id, end.Type, end.By)
		}
	}
	assertTestIsGone(t, s)

	t.Run("an unknown template", func(t *testing.T) {
		t.Cleanup(func() { resetRelease(t, s) })
		if err := s.upgrade(t.Context(), "test.template=no-such-template", "test.timeout=10s"); err != nil {
			t.Fatal(err)
		}
		out, err := helmTest(t, s)
		if err == nil {
			t.Errorf("it passed:\n%s", out)
		}
		for _, h := range s.info.Hosts {
			if !hasLine(out, h.VirtualNode()+": no running sandbox of template no-such-template after 10s", "request refused", "; next: ", "test.template") {
				t.Errorf("it does not say what failed on %s, why, and what to do:\n%s", h.VirtualNode(), out)
			}
		}
		if len(checkVMs(t, s)) != len(after) {
			t.Error("a claim was made for an unknown template")
		}
		pod, err := s.client.CoreV1().Pods(release).Get(t.Context(), release+"-test", metav1.GetOptions{})
		if err != nil || pod.Status.Phase != corev1.PodFailed || pod.Status.ContainerStatuses[0].State.Terminated.ExitCode != 1 {
			t.Errorf("the Pod that failed is to stay, with exit code 1: %v, %+v", err, pod.Status.ContainerStatuses)
		}
		if err := ignoreNotFound(s.client.CoreV1().Pods(release).Delete(t.Context(), release+"-test", metav1.DeleteOptions{})); err != nil {
			t.Error(err)
		}
		assertTestIsGone(t, s)
	})
}

func helmTest(t *testing.T, s *suite) (out string, err error) {
	t.Helper()
	// Helm prints the test's own output to the other stream.
	cmd := exec.CommandContext(t.Context(), s.info.Helm, "--kubeconfig="+s.info.Kubeconfig, "test", release, "--namespace="+release, "--timeout=3m", "--hide-notes")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// resetRelease upgrades the release to the suite's values.
func resetRelease(t *testing.T, s *suite) {
	t.Helper()
	// The test's own context is over.
	if err := s.upgrade(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

func hasLine(text string, parts ...string) bool {
	for line := range strings.Lines(text) {
		if containsAll(line, parts) {
			return true
		}
	}
	return false
}

// checkVMs returns the events that ended the VMs of the chart's test, by VM.
func checkVMs(t *testing.T, s *suite) map[string]history.Event {
	t.Helper()
	ends := map[string]history.Event{}
	for _, h := range s.info.Hosts {
		all, err := s.simHistory(t.Context(), h)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Events {
			if !strings.HasPrefix(e.ClaimRef, release+"/vk-sandbox-check-") {
				continue
			}
			switch e.Type {
			case history.EventClaimed:
				ends[e.Sandbox] = history.Event{}
			case history.EventReleased, history.EventReaped, history.EventDiscarded, history.EventLost:
				ends[e.Sandbox] = e
			}
		}
	}
	return ends
}

// assertTestIsGone checks that no Pods and no rights of the test are left.
func assertTestIsGone(t *testing.T, s *suite) {
	t.Helper()
	pods, err := s.client.CoreV1().Pods(release).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name in (vk-sandbox-check,vk-sandbox-test)"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil {
			t.Errorf("Pod %s is left", p.Name)
		}
	}
	_, account := s.client.CoreV1().ServiceAccounts(release).Get(t.Context(), release+"-test", metav1.GetOptions{})
	_, role := s.client.RbacV1().Roles(release).Get(t.Context(), release+"-test", metav1.GetOptions{})
	roles, err := s.client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=vk-sandbox-test"})
	if !apierrors.IsNotFound(account) || !apierrors.IsNotFound(role) || err != nil || len(roles.Items) > 0 {
		t.Errorf("the test's account or rights are left: %v, %v, %v, %v", account, role, roles.Items, err)
	}
}
