// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// The tests in this file run a daemon beside the release's daemon, so they run alone.

// stray is the Pod name of a daemon without a DaemonSet.
const stray = "stray"

// newStray returns the Pod of a second daemon on the host, with these flags after those of
// the release. It declares no ports, so that the kubelet does not reject it.
func (f *fixture) newStray(h clusterinfo.Host, flags ...string) *corev1.Pod {
	f.t.Helper()
	set, err := f.client.AppsV1().DaemonSets(release).Get(f.t.Context(), release, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: stray, Namespace: release}, Spec: set.Spec.Template.Spec}
	pod.Spec.NodeName, pod.Spec.NodeSelector, pod.Spec.Affinity = h.Name, nil, nil
	c := &pod.Spec.Containers[0]
	c.Args = append(c.Args, flags...)
	c.Ports, c.StartupProbe, c.LivenessProbe, c.ReadinessProbe = nil, nil, nil, nil
	return pod
}

// start creates the Pod and deletes it at the end of the test.
func (f *fixture) start(pod *corev1.Pod) {
	f.t.Helper()
	if _, err := f.client.CoreV1().Pods(release).Create(f.t.Context(), pod, metav1.CreateOptions{}); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := f.stop(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
}

// stop deletes the stray daemon and waits for its end.
func (f *fixture) stop(ctx context.Context) error {
	if err := ignoreNotFound(f.client.CoreV1().Pods(release).Delete(ctx, stray, metav1.DeleteOptions{})); err != nil {
		return err
	}
	return poll(ctx, func(ctx context.Context) error {
		_, err := f.client.CoreV1().Pods(release).Get(ctx, stray, metav1.GetOptions{})
		if err == nil {
			err = errors.New("it is still there")
		}
		return ignoreNotFound(err)
	})
}

// waitLog waits until the stray daemon has logged the text.
func (f *fixture) waitLog(text string) (log string) {
	f.t.Helper()
	eventually(f.t, "log line of the stray daemon", func(ctx context.Context) (err error) {
		log, err = f.kubectl(ctx, "--namespace="+release, "logs", stray)
		if err == nil && !strings.Contains(log, text) {
			err = fmt.Errorf("%q is not in:\n%s", text, log)
		}
		return err
	})
	return log
}

// waitExit waits until the daemon in the Pod has ended with an error that contains all
// parts.
func (f *fixture) waitExit(name string, parts ...string) {
	f.t.Helper()
	eventually(f.t, "end of the daemon in "+name, func(ctx context.Context) error {
		pod, err := f.client.CoreV1().Pods(release).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range pod.Status.ContainerStatuses {
			for _, end := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
				if end != nil && end.ExitCode == 1 && containsAll(end.Message, parts) {
					return nil
				}
			}
		}
		return fmt.Errorf("its container is %+v", pod.Status.ContainerStatuses)
	})
}

// TestTwoDaemonsOfOneHost checks that a second daemon with the same state directory waits
// for the lock without any action, and then takes everything over, in both directions.
func TestTwoDaemonsOfOneHost(t *testing.T) {
	f := newFixture(t)
	all := newFleet(f)
	host := f.info.Hosts[0]
	t.Cleanup(func() {
		if t.Failed() {
			resetRelease(t, f.suite)
		}
	})
	f.start(f.newStray(host, "--listen-addr=:10360", "--metrics-addr=127.0.0.1:10361"))
	f.waitLog("waiting for another daemon to release the lock of the claims table")

	// The first one serves on, in both respects that a second writer would spoil.
	f.run(on(host, newPod("while-both-run")))
	f.deletePod("while-both-run", metav1.DeleteOptions{})
	f.waitGone("while-both-run")
	all.assertUntouched("the start of a second daemon")
	if log := f.waitLog("waiting for another daemon"); strings.Contains(log, "Claims table loaded") || strings.Contains(log, "Kubelet API is listening") {
		t.Errorf("the second daemon did more than wait:\n%s", log)
	}
	f.assertNoRequests(stray)

	stopDaemons(t, f.suite)
	f.waitLog("Claims table loaded")
	eventually(t, "port of the second daemon in the Node", func(ctx context.Context) error {
		node, err := f.readyNode(ctx, host.VirtualNode())
		if err == nil && node.Status.DaemonEndpoints.KubeletEndpoint.Port != 10360 {
			err = fmt.Errorf("it is %d", node.Status.DaemonEndpoints.KubeletEndpoint.Port)
		}
		return err
	})
	preserved := "preserved-" + host.Name
	if id := f.resume(preserved); id != all.preserved[preserved] {
		t.Errorf("the second daemon made claim %s, want %s adopted", id, all.preserved[preserved])
	}
	f.suspend(preserved)
	all.assertUntouched("the takeover")

	// Back: now that of the release waits, and is not Ready meanwhile.
	if err := f.upgradeTo(t.Context(), chartDir); err != nil {
		t.Fatal(err)
	}
	var again string
	eventually(t, "wait of the release's daemon", func(ctx context.Context) (err error) {
		if again, err = f.daemonOn(ctx, host.Name); err != nil {
			return err
		}
		log, err := f.kubectl(ctx, "--namespace="+release, "logs", again)
		if err == nil && !strings.Contains(log, "waiting for another daemon") {
			err = errors.New("it does not wait")
		}
		return err
	})
	if pod, err := f.client.CoreV1().Pods(release).Get(t.Context(), again, metav1.GetOptions{}); err != nil || pod.Status.ContainerStatuses[0].Ready {
		t.Errorf("the daemon that waits counts as Ready (%v)", err)
	}
	f.assertNoRequests(again)
	if err := f.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.rolledOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	all.assertUntouched("the takeover back")
	all.assertServed("the takeover back")
}

// assertNoRequests checks in the audit log, if the cluster has one, that the daemon in the
// Pod sent no request to the API server.
func (f *fixture) assertNoRequests(pod string) {
	f.t.Helper()
	if f.info.AuditLog == "" {
		f.t.Log("this cluster keeps no record of requests")
		return
	}
	requests, err := f.info.Requests(daemonUser, f.begun)
	if err != nil {
		f.t.Fatal(err)
	}
	// Another test may have had a Pod of that name.
	running, err := f.client.CoreV1().Pods(release).Get(f.t.Context(), pod, metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	seen := false
	for _, r := range requests {
		by := strings.Join(r.User.Extra["authentication.kubernetes.io/pod-name"], "")
		seen = seen || strings.HasPrefix(by, release+"-")
		uid := strings.Join(r.User.Extra["authentication.kubernetes.io/pod-uid"], "")
		if by == pod && uid == string(running.UID) {
			f.t.Errorf("the daemon in %s asked the API server: %s %s", pod, r.Verb, r.RequestURI)
		}
	}
	if !seen {
		f.t.Error("the record of requests names no daemon's Pod: looked for the wrong thing")
	}
}

// TestPortTaken checks that a daemon whose port is taken exits with a message about it,
// before it publishes anything of its Node.
func TestPortTaken(t *testing.T) {
	f := newFixture(t)
	host := f.info.Hosts[0]
	node := host.VirtualNode()
	t.Cleanup(func() { resetRelease(t, f.suite) })
	stopDaemons(t, f.suite)
	if err := f.client.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// The listener is a daemon with nothing behind it: a table of its own and an
	// API server that is not there.
	listener := f.newStray(host, "--metrics-addr=0", "--state-path="+filepath.Join(filepath.Dir(stateFile), "stray", "claims.json"))
	listener.Spec.Containers[0].Env = append(listener.Spec.Containers[0].Env,
		corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: "127.0.0.1"}, corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: "1"})
	listener.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	f.start(listener)
	f.waitLog("Kubelet API is listening")
	connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", net.JoinHostPort(host.IP, strconv.Itoa(kubeletPort)))
	if err != nil {
		t.Fatal(err)
	}
	if err := connection.Close(); err != nil {
		t.Error(err)
	}

	if err := f.upgradeTo(t.Context(), chartDir); err != nil {
		t.Fatal(err)
	}
	var portless string
	eventually(t, "daemon without a port", func(ctx context.Context) (err error) {
		portless, err = f.daemonOn(ctx, host.Name)
		return err
	})
	f.waitExit(portless, "--listen-addr", "address already in use")
	if _, err := f.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Node of the daemon without a port is there: %v", err)
	}

	if err := f.stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.rolledOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.nodesReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	if id := f.run(newPod("bare")); id == "" {
		t.Errorf("the Pod shows no %s", podcontract.AnnotationClaimID)
	}
}
