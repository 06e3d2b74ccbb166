// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/cocoonstack/vk-sandbox/test/fakecluster"
)

const (
	// hangingPods are more than the library has workers.
	hangingPods = 300
	// releaseWithin is within what a deletion has to reach sandboxd.
	releaseWithin = 2 * time.Second
)

// Under restartPolicy Never the library marks a Pod Failed whose create failed, and
// creates it again as long as the watch has not shown that.
func TestAPodThatFailedForGoodHoldsNoSandbox(t *testing.T) {
	for name, delay := range map[string]time.Duration{"watch in time": 0, "watch late": 200 * time.Millisecond, "watch very late": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(sandboxPod("a", "P1", never))
				fakecluster.WithVersions(client)
				if delay > 0 {
					delayPods(client, delay)
				}
				node := &fakeSandboxd{full: 1}
				table := fullNode(t, client, node)
				time.Sleep(30 * time.Minute)
				_, held := table.Get("default/a")
				if claims, _ := node.counts(); podPhase(t, client, "a") != corev1.PodFailed || held || claims != 1 {
					t.Errorf("the Pod is %s, holds a claim: %t, after %d claims", podPhase(t, client, "a"), held, claims)
				}
			})
		})
	}
}

// A deletion waits in no queue in which a create waits, neither in one of other Pods
// nor in its own.
func TestAReleaseWaitsForNoHangingCreate(t *testing.T) {
	for name, tc := range map[string]struct{ deleteThemToo bool }{
		"creates of other Pods hang":              {false},
		"other Pods are deleted while these hang": {true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(sandboxPod("runs", "R"))
				node := &fakeSandboxd{}
				fullNode(t, client, node)
				time.Sleep(5 * time.Second)
				for i := range hangingPods {
					pod := sandboxPod(fmt.Sprintf("hangs-%d", i), types.UID(fmt.Sprintf("H%d", i)), hanging)
					if _, err := client.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(3 * time.Second)
				if tc.deleteThemToo {
					for i := range hangingPods {
						beginDeletion(t, client, fmt.Sprintf("hangs-%d", i))
					}
					time.Sleep(time.Second)
				}
				if phase := podPhase(t, client, "runs"); phase != corev1.PodRunning {
					t.Fatalf("the Pod is %s", phase)
				}
				beginDeletion(t, client, "runs")
				time.Sleep(releaseWithin)
				if _, released := node.counts(); released != 1 {
					t.Errorf("%d releases %v after the deletion", released, releaseWithin)
				}
			})
		})
	}
}

// A list that covers a Pod's deletion and another Pod of its name comes as one
// update, for which the library calls no create.
func TestASuccessorInOneUpdateIsServed(t *testing.T) {
	for name, tc := range map[string]struct {
		full  int
		phase corev1.PodPhase // of the Pod before
	}{
		"of a Pod that failed for good": {1, corev1.PodFailed},
		"of a Pod that runs":            {0, corev1.PodRunning},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset(sandboxPod("a", "P1", never))
				table := fullNode(t, client, &fakeSandboxd{full: tc.full})
				time.Sleep(time.Minute)
				if phase := podPhase(t, client, "a"); phase != tc.phase {
					t.Fatalf("P1 is %s", phase)
				}
				p2 := sandboxPod("a", "P2", never)
				p2.ResourceVersion = ""
				if err := client.Tracker().Update(corev1.SchemeGroupVersion.WithResource("pods"), p2, "default"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute)
				if c, _ := table.Get("default/a"); c.PodUID != "P2" || podPhase(t, client, "a") != corev1.PodRunning {
					t.Errorf("after 5 min the claim is that of %q, and the Pod is %s", c.PodUID, podPhase(t, client, "a"))
				}
			})
		})
	}
}
