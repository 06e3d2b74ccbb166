// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus_test

import (
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

var (
	// Neither moment is on a second, nor in UTC, as a clock's are.
	zone      = time.FixedZone("", 2*60*60)
	claimedAt = time.Date(2026, 7, 27, 4, 15, 0, 987654321, zone)
	endedAt   = time.Date(2026, 7, 28, 4, 15, 7, 123456789, zone)
	bound     = podstatus.Binding{ClaimID: "sb_1", Address: "10.0.0.5:7777", ClaimedAt: claimedAt}
)

// podOf is a Pod with that many containers; with three it has all the other kinds too.
func podOf(containers int) *corev1.Pod {
	all := []corev1.Container{{Name: "agent", Image: "rt:24.04"}, {Name: "sidecar", Image: "proxy:2"}, {Name: "logger"}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: all[:containers]}}
	if containers == 3 {
		pod.Generation = 4
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "init", Image: "init:1"},
			{Name: "mesh", Image: "mesh:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)},
			{Name: "retried", Image: "init:2", RestartPolicy: new(corev1.ContainerRestartPolicyOnFailure)},
		}
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{
			{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger-x", Image: "busybox"}},
		}
	}
	return pod
}

func failed(pod *corev1.Pod) corev1.PodStatus {
	return podstatus.Failed(pod, bound, podstatus.ReasonLeaseExpired, "the lease ended", endedAt)
}

func TestWholeStatus(t *testing.T) {
	for _, containers := range []int{0, 1, 3} {
		pod := podOf(containers)
		for kind, got := range map[string]corev1.PodStatus{"running": podstatus.Running(pod, bound), "failed": failed(pod)} {
			file := "testdata/" + kind + "-" + strconv.Itoa(containers) + ".yaml"
			t.Run(file, func(t *testing.T) {
				golden, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				rendered, err := yaml.Marshal(got)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(document(t, golden), document(t, rendered)); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func document(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The reason is part of the contract.
func TestReasonOfAnEndedLease(t *testing.T) {
	if podstatus.ReasonLeaseExpired != "SandboxLeaseExpired" {
		t.Errorf("reason %q", podstatus.ReasonLeaseExpired)
	}
}

func TestPendingStatus(t *testing.T) {
	if diff := cmp.Diff(corev1.PodStatus{Phase: corev1.PodPending}, podstatus.Pending()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// Two reads of one claim are one status, also when the claim's time has been
// through the table's file in between, and sharing nothing that can be written.
func TestStatusIsStable(t *testing.T) {
	pod := podOf(3)
	reloaded := bound
	reloaded.ClaimedAt = claimedAt.UTC().Truncate(time.Second)
	// Deeply equal, time zones and all: not every caller compares by meaning.
	if first, second := podstatus.Running(pod, bound), podstatus.Running(pod, reloaded); !reflect.DeepEqual(first, second) {
		t.Errorf("running: %v, then %v", first, second)
	}
	if diff := cmp.Diff(failed(pod), failed(pod)); diff != "" {
		t.Errorf("failed (-first +second):\n%s", diff)
	}
	first, second := podstatus.Running(pod, bound), podstatus.Running(pod, bound)
	first.Conditions[0].Reason, *first.ContainerStatuses[0].Started, first.PodIPs[0].IP = "changed", false, "changed"
	first.StartTime.Time = endedAt
	if diff := cmp.Diff(podstatus.Running(pod, bound), second); diff != "" {
		t.Errorf("a change of one shows in the other:\n%s", diff)
	}
}

// Nothing can be published after a terminal phase, so everything that ends
// must end with it.
func TestFailedIsTerminalThroughout(t *testing.T) {
	for _, reason := range []string{podstatus.ReasonLeaseExpired, podstatus.ReasonLost} {
		s := podstatus.Failed(podOf(3), bound, reason, "message", endedAt)
		if s.Phase != corev1.PodFailed || s.Reason != reason || s.Message != "message" {
			t.Errorf("phase %s, reason %s, message %s", s.Phase, s.Reason, s.Message)
		}
		for _, c := range slices.Concat(s.ContainerStatuses, s.InitContainerStatuses, s.EphemeralContainerStatuses) {
			initialized := c.Name == "init" || c.Name == "retried"
			if c.State.Running != nil || c.State.Waiting != nil || c.State.Terminated == nil || (c.State.Terminated.ExitCode == 0) != initialized || c.Ready != initialized || *c.Started {
				t.Errorf("container %s is not over: %+v", c.Name, c)
			}
		}
		for _, c := range s.Conditions {
			if (c.Type == corev1.PodReady || c.Type == corev1.ContainersReady || c.Type == corev1.PodReadyToStartContainers) && c.Status != corev1.ConditionFalse {
				t.Errorf("still True: %+v", c)
			}
		}
	}
}

func TestHostIP(t *testing.T) {
	for _, c := range []struct{ name, address, want string }{
		{"IPv4", "10.0.0.5:7777", "10.0.0.5"},
		{"IPv6", "[fd00::5]:7777", "fd00::5"},
		{"IPv6 in long form", "[FD00:0:0:0:0:0:0:5]:7777", "fd00::5"},
		{"IPv6 with a zone", "[fe80::5%eth0]:7777", "fe80::5"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.5]:7777", "10.0.0.5"},
		{"IPv4 in IPv6 with a zone", "[::ffff:10.0.0.5%eth0]:7777", "10.0.0.5"},
		{"host name", "host-07:7777", ""},
		{"host name of digits", "10:7777", ""},
		{"leading zeros", "010.0.0.5:7777", ""},
		{"octet too large", "10.0.0.256:7777", ""},
		{"empty port", "10.0.0.5:", "10.0.0.5"},
		{"no port", "10.0.0.5", "10.0.0.5"},
		{"bare IPv6", "fd00::5", "fd00::5"},
		{"bare IPv6 with a zone", "fe80::5%eth0", "fe80::5"},
		{"bare IPv6 of eight groups", "fd00:0:0:0:0:0:0:7777", "fd00::7777"},
		{"bare IPv6 whose last group is no port", "fd00::5:abcd", "fd00::5:abcd"},
		{"bare IPv4 in IPv6", "::ffff:10.0.0.5", "10.0.0.5"},
		{"IPv6 without brackets", "fd00::5:7777", ""},
		{"IPv6 without a port", "[fd00::5]", "fd00::5"},
		{"IPv6 without a port, with a zone", "[fe80::5%eth0]", "fe80::5"},
		{"unspecified", "0.0.0.0:7777", ""},
		{"unspecified without a port", "0.0.0.0", ""},
		{"unspecified IPv6", "[::]:7777", ""},
		{"unspecified IPv6 without a port", "::", ""},
		{"unspecified IPv4 in IPv6", "[::ffff:0.0.0.0]:7777", ""},
		{"multicast", "224.0.0.1:7777", ""},
		{"multicast IPv6", "[ff02::1]:7777", ""},
		{"IPv4 in brackets, without a port", "[10.0.0.5]", ""},
		{"open bracket", "[fd00::5:7777", ""},
		{"empty brackets", "[]", ""},
		{"two ports", "10.0.0.5:7777:1", ""},
		{"space", " 10.0.0.5:7777", ""},
		{"no host", ":7777", ""},
		{"empty", "", ""},
		{"URL", "http://10.0.0.5:7777", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := podstatus.Running(podOf(1), podstatus.Binding{ClaimID: "sb_1", Address: c.address, ClaimedAt: claimedAt})
			var pods []corev1.PodIP
			var hosts []corev1.HostIP
			if c.want != "" {
				pods, hosts = []corev1.PodIP{{IP: c.want}}, []corev1.HostIP{{IP: c.want}}
			}
			if s.PodIP != c.want || s.HostIP != c.want {
				t.Errorf("podIP %q, hostIP %q; want %q", s.PodIP, s.HostIP, c.want)
			}
			if problem := podstatus.AddressProblem(c.address); (problem == "") != (c.want != "") {
				t.Errorf("problem %q beside the address %q", problem, c.want)
			}
			if diff := cmp.Diff(pods, s.PodIPs) + cmp.Diff(hosts, s.HostIPs); diff != "" {
				t.Errorf("lists (-want +got):\n%s", diff)
			}
			if s.Phase != corev1.PodRunning || len(s.ContainerStatuses) != 1 || !s.ContainerStatuses[0].Ready {
				t.Errorf("a claim without an IP address still runs: %+v", s)
			}
		})
	}
}

// The problem's text depends on its kind alone, so that events aggregate.
func TestAddressProblem(t *testing.T) {
	kinds := map[string][]string{
		"named no address":  {""},
		"not an IP address": {"host-07:7777", "host-08", "10.0.0.256:1", "[10.0.0.5]", "http://10.0.0.5:7777"},
		"unspecified":       {":7777", "[]:7777", "0.0.0.0:1", "::", "[::]:7777", "224.0.0.1:1"},
		"without brackets":  {"fd00::5:7777", "2001:db8::1:80"},
		"":                  {"10.0.0.5:7777", "fd00::5"},
	}
	for part, addresses := range kinds {
		text := podstatus.AddressProblem(addresses[0])
		if !strings.Contains(text, part) || (text == "") != (part == "") {
			t.Errorf("%q: problem %q, want one with %q", addresses[0], text, part)
		}
		for _, address := range addresses {
			if got := podstatus.AddressProblem(address); got != text {
				t.Errorf("%q: problem %q, want %q", address, got, text)
			}
		}
	}
}

func TestClaimID(t *testing.T) {
	ids := func(all ...string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{podcontract.AnnotationClaimID: "sb_annotation"}}}
		for _, id := range all {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{ImageID: id})
		}
		return pod
	}
	with := func(s corev1.PodStatus) *corev1.Pod { return &corev1.Pod{Status: s} }
	for _, c := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"annotation alone", ids(), ""},
		{"no id yet", ids(""), ""},
		{"image of a container runtime", ids("docker-pullable://rt@sha256:00"), ""},
		{"claim", ids("sandboxd://sb_1"), "sb_1"},
		{"claim with slashes", ids("sandboxd://a/b"), "a/b"},
		{"claim in a later container", ids("", "sandboxd://sb_1"), "sb_1"},
		{"prefix inside", ids("x-sandboxd://sb_1"), ""},
		{"published as running", with(podstatus.Running(podOf(3), bound)), "sb_1"},
		{"published as failed", with(failed(podOf(3))), "sb_1"},
		{"published as pending", with(podstatus.Pending()), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := podstatus.ClaimID(c.pod); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzStatus(f *testing.F) {
	for _, seed := range []string{"10.0.0.5:7777", "[fe80::5%eth0]:7777", "[::ffff:10.0.0.5]:1", "host-07:7777", ":", "[]:1", "\xff:1", "fd00::5", "[fd00::5]", "fd00::5:7777", "[::]:1"} {
		f.Add("sb_1", seed, int64(1785204900))
	}
	f.Fuzz(func(t *testing.T, id, address string, at int64) {
		b := podstatus.Binding{ClaimID: id, Address: address, ClaimedAt: time.Unix(at, 0)}
		s := podstatus.Running(podOf(1), b)
		if errs := validation.IsValidIP(nil, s.PodIP); s.PodIP != "" && len(errs) > 0 {
			t.Errorf("%q gives the address %q: %v", address, s.PodIP, errs)
		}
		if problem := podstatus.AddressProblem(address); (problem == "") != (s.PodIP != "") {
			t.Errorf("%q gives the address %q and the problem %q", address, s.PodIP, problem)
		}
		if got := podstatus.ClaimID(&corev1.Pod{Status: s}); got != id {
			t.Errorf("published claim %q, want %q", got, id)
		}
	})
}
