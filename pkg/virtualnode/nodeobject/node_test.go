// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
)

var reachable = condition("SandboxdReachable", metav1.ConditionTrue, "Answering", "sandboxd answers")

func alwaysReachable() []metav1.Condition { return []metav1.Condition{reachable} }

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// stated is what the Node's condition says, without its times.
func stated(c corev1.NodeCondition) metav1.Condition {
	return condition(string(c.Type), metav1.ConditionStatus(c.Status), c.Reason, c.Message)
}

func nodeConfig(change func(*Config)) *Config {
	c := &Config{
		NodeName:         "host-1-sandboxd",
		NodeIP:           net.ParseIP("192.0.2.7"),
		CPU:              resource.MustParse("4000"),
		Memory:           resource.MustParse("8Ti"),
		EphemeralStorage: resource.MustParse("16Ti"),
		MaxPods:          resource.MustParse("2000"),
		Labels:           map[string]string{"sandbox.cocoonstack.io/runtime": "sandboxd"},
		Version:          "v0.1.0",
	}
	if change != nil {
		change(c)
	}
	return c
}

func TestNodeLabels(t *testing.T) {
	fixed := map[string]string{
		"type":                   "virtual-kubelet",
		"kubernetes.io/role":     "agent",
		"kubernetes.io/hostname": "host-1-sandboxd",
		"node.kubernetes.io/exclude-from-external-load-balancers": "true",
	}
	for name, tc := range map[string]struct {
		given map[string]string
		want  map[string]string
	}{
		"none given":       {nil, nil},
		"default":          {map[string]string{"sandbox.cocoonstack.io/runtime": "sandboxd"}, map[string]string{"sandbox.cocoonstack.io/runtime": "sandboxd"}},
		"fixed labels win": {map[string]string{"type": "other", "kubernetes.io/hostname": "other", "zone": "a"}, map[string]string{"zone": "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			for _, m := range []map[string]string{fixed, tc.want} {
				for k, v := range m {
					want[k] = v
				}
			}
			got := newNode(nodeConfig(func(c *Config) { c.Labels = tc.given }), 10260, alwaysReachable(), time.Now()).Labels
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodeAddresses(t *testing.T) {
	hostname := corev1.NodeAddress{Type: corev1.NodeHostName, Address: "host-1-sandboxd"}
	for name, tc := range map[string]struct {
		ip   net.IP
		want []corev1.NodeAddress
	}{
		"no IP": {nil, []corev1.NodeAddress{hostname}},
		"IPv4":  {net.ParseIP("192.0.2.7"), []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "192.0.2.7"}, hostname}},
		"IPv6":  {net.ParseIP("2001:db8::7"), []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "2001:db8::7"}, hostname}},
	} {
		t.Run(name, func(t *testing.T) {
			got := newNode(nodeConfig(func(c *Config) { c.NodeIP = tc.ip }), 10260, alwaysReachable(), time.Now()).Status.Addresses
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNodeObject(t *testing.T) {
	n := newNode(nodeConfig(nil), 10261, alwaysReachable(), time.Unix(1_800_000_000, 0))

	wantTaints := []corev1.Taint{{Key: "virtual-kubelet.io/provider", Value: "sandboxd", Effect: corev1.TaintEffectNoSchedule}}
	if diff := cmp.Diff(wantTaints, n.Spec.Taints); diff != "" {
		t.Errorf("taints (-want +got):\n%s", diff)
	}
	want := corev1.ResourceList{
		"cpu": resource.MustParse("4000"), "memory": resource.MustParse("8Ti"),
		"ephemeral-storage": resource.MustParse("16Ti"), "pods": resource.MustParse("2000"),
	}
	if diff := cmp.Diff(want, n.Status.Capacity); diff != "" {
		t.Errorf("capacity (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(n.Status.Capacity, n.Status.Allocatable); diff != "" {
		t.Errorf("allocatable differs from capacity:\n%s", diff)
	}
	if got := n.Status.DaemonEndpoints.KubeletEndpoint.Port; got != 10261 {
		t.Errorf("kubelet port = %d, want 10261", got)
	}
	if info := n.Status.NodeInfo; info.OperatingSystem != runtime.GOOS || info.Architecture != runtime.GOARCH {
		t.Errorf("node info = %s/%s", info.OperatingSystem, info.Architecture)
	}
	conditions := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range n.Status.Conditions {
		conditions[c.Type] = c.Status
		if c.Reason == "" || c.Message == "" || c.LastTransitionTime.IsZero() || c.LastHeartbeatTime.IsZero() {
			t.Errorf("condition %s is not complete: %+v", c.Type, c)
		}
	}
	wantConditions := map[corev1.NodeConditionType]corev1.ConditionStatus{
		"Ready": "True", "MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False",
		"NetworkUnavailable": "False", "SandboxdReachable": "True",
	}
	if diff := cmp.Diff(wantConditions, conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
}

func TestKubeletVersion(t *testing.T) {
	for build, want := range map[string]string{
		"v0.1.0": "vk-sandbox.v0.1.0",
		"v0.0.0-20260101000000-abcdef012345+dirty": "vk-sandbox.v0.0.0-20260101000000-abcdef012345.dirty",
		"(devel)": "vk-sandbox..devel.",
		"":        "vk-sandbox.unknown",
	} {
		got := kubeletVersion(build)
		if _, after, _ := strings.Cut(got, "+"); after != want {
			t.Errorf("kubeletVersion(%q) = %q, want it to end in +%s", build, got, want)
		}
		v, err := version.ParseGeneric(got)
		if err != nil || v.Major() != 1 {
			t.Errorf("kubeletVersion(%q) = %q cannot be read for version skew: %v, %v", build, got, v, err)
		}
	}
}
