// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"net"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/podcache"
	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func alwaysReachable() []metav1.Condition {
	return []metav1.Condition{{
		Type: "SandboxdReachable", Status: metav1.ConditionTrue, Reason: "Answering", Message: "sandboxd answers",
	}}
}

// runConfig is a complete configuration of the test node.
func runConfig(client *fake.Clientset, p Provider, change func(*Config)) Config {
	c := Config{
		Config: nodeobject.Config{
			NodeName: fakecluster.NodeName, NodeIP: net.ParseIP("192.0.2.7"), Version: "v0.1.0",
			CPU: resource.MustParse("4000"), Memory: resource.MustParse("8Ti"),
			EphemeralStorage: resource.MustParse("16Ti"), MaxPods: resource.MustParse("2000"),
			HeartbeatClient: client, Node: nodeobject.NewInformer(client, fakecluster.NodeName),
			Recorder: &record.FakeRecorder{}, Conditions: alwaysReachable,
		},
		ListenAddr: "127.0.0.1:0", QueueQPS: 200, QueueBurst: 400,
		Client: client, Pods: podcache.NewInformer(client, fakecluster.NodeName), Provider: p,
	}
	if change != nil {
		change(&c)
	}
	return c
}

// startControl runs the controllers of a virtual node until the test ends.
func startControl(t *testing.T, client *fake.Clientset, p Provider, change func(*Config)) *VirtualNode {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	v, done := runControl(ctx, t, client, p, change)
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("control ended with %v", err)
		}
	})
	return v
}

// runControl runs the controllers of a virtual node until ctx ends, and returns what they
// end with.
func runControl(ctx context.Context, t *testing.T, client *fake.Clientset, p Provider, change func(*Config)) (*VirtualNode, <-chan error) {
	t.Helper()
	v, err := New(runConfig(client, p, change))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- v.control(ctx, 10260) }()
	return v, done
}

// ofHost makes a configuration that of a host.
func ofHost(id string) func(*Config) { return func(c *Config) { c.HostID = id } }

// leftNode is the Node as the daemon of a host left it.
func leftNode(host string) *corev1.Node {
	capacity := corev1.ResourceList{"cpu": resource.MustParse("4000"), "pods": resource.MustParse("2000")}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: fakecluster.NodeName, UID: "node-uid", ResourceVersion: "7",
			Labels:      nodeobject.FixedLabels(fakecluster.NodeName),
			Annotations: map[string]string{nodeobject.AnnotationHostID: host},
		},
		Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: podcontract.TaintKey, Value: podcontract.TaintValue, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity.DeepCopy()},
	}
}
