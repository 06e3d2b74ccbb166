// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

func TestNodeStatusHandsOutCopies(t *testing.T) {
	s := newNodeStatus(newNode(nodeConfig(nil), 10260, alwaysReachable(), time.Now()))
	mine := s.current()
	mine.Status.Conditions[0].Status, mine.Labels["type"] = "x", "x"
	if now := s.current(); now.Status.Conditions[0].Status == "x" || now.Labels["type"] == "x" {
		t.Error("a write to the copy reached the original")
	}
}

// A change before the registration is published by it, and costs no update of its own.
func TestMaxPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		c := nodeConfig(func(c *Config) {
			c.HeartbeatClient, c.Node, c.Conditions = client, NewInformer(client, c.NodeName), alwaysReachable
		})
		controller, err := Claim(t.Context(), *c, 10260)
		if err != nil {
			t.Fatal(err)
		}
		controller.SetMaxPods(resource.Quantity{})
		c.Node.Start(t.Context())
		go func() { _ = controller.Run(t.Context(), func() {}) }()
		check := func(want int64, patches int) {
			t.Helper()
			synctest.Wait()
			status := fakecluster.StoredNode(t, client).Status
			if pods, room := status.Capacity.Pods().Value(), status.Allocatable.Pods().Value(); pods != want || room != want {
				t.Errorf("room for %d Pods of %d, want %d", room, pods, want)
			}
			if status.Allocatable.Cpu().Value() != 4000 {
				t.Errorf("status = %+v, want it complete", status)
			}
			if got := len(fakecluster.Patches(client)); got != patches {
				t.Errorf("%d patches, want %d", got, patches)
			}
		}
		check(0, 0)
		controller.SetMaxPods(resource.MustParse("2000"))
		check(2000, 1)
	})
}

func TestSetCondition(t *testing.T) {
	start := time.Unix(1_800_000_000, 0)
	later := start.Add(time.Minute)
	for name, tc := range map[string]struct {
		to                    metav1.Condition
		changed, transitioned bool
		transition            time.Time
	}{
		"same":                    {reachable, false, false, start},
		"other status":            {condition(reachable.Type, metav1.ConditionFalse, "Unreachable", "no answer"), true, true, later},
		"other words, same state": {condition(reachable.Type, metav1.ConditionTrue, "Slow", "m"), true, false, start},
		"not one of the node's":   {condition("Other", metav1.ConditionFalse, "r", "m"), false, false, start},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(nodeConfig(nil), 1, alwaysReachable(), start)
			if changed, transitioned := setCondition(n, tc.to, later); changed != tc.changed || transitioned != tc.transitioned {
				t.Errorf("changed %v, transitioned %v, want %v and %v", changed, transitioned, tc.changed, tc.transitioned)
			}
			for _, c := range n.Status.Conditions {
				wantTime := start
				if string(c.Type) == tc.to.Type {
					wantTime = tc.transition
					if stated(c) != tc.to {
						t.Errorf("condition = %+v, want %+v", c, tc.to)
					}
				}
				if !c.LastTransitionTime.Time.Equal(wantTime) {
					t.Errorf("%s: transition at %v, want %v", c.Type, c.LastTransitionTime, wantTime)
				}
			}
		})
	}
}

func TestKeepTransitions(t *testing.T) {
	before, now := time.Unix(1_800_000_000, 0), time.Unix(1_800_009_000, 0)
	published := newNode(nodeConfig(nil), 1, []metav1.Condition{condition(reachable.Type, metav1.ConditionFalse, "r", "m")}, before)
	n := newNode(nodeConfig(nil), 1, alwaysReachable(), now)
	keepTransitions(n, published)
	for _, c := range n.Status.Conditions {
		want := before
		if string(c.Type) == reachable.Type {
			want = now
		}
		if !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("%s: transition at %v, want %v", c.Type, c.LastTransitionTime, want)
		}
	}
}
