// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/check"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// inVirtualTime also gives the fake nodes the time to end what they have begun.
func inVirtualTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Minute)
		test(t)
	})
}

func TestEveryNodeClaimsAndReleases(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		c := newCluster(t)
		config := c.config()
		config.Size, config.Owner = "small", &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "vk-sandbox-test", UID: "u1"}
		if err := check.Run(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		var nodes []string
		for _, pod := range c.created {
			nodes = append(nodes, pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values...)
			if metav1.GetControllerOf(pod) != nil || len(pod.OwnerReferences) != 1 || pod.OwnerReferences[0].UID != "u1" {
				t.Errorf("owners %v, want the one given, which is no controller", pod.OwnerReferences)
			}
			want := map[string]string{
				podcontract.AnnotationRuntime: "sandboxd", podcontract.AnnotationTemplate: "rt:24.04", podcontract.AnnotationSize: "small",
				podcontract.AnnotationTTLSeconds: "180",
			}
			if diff := cmp.Diff(want, pod.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		}
		slices.Sort(nodes)
		if diff := cmp.Diff([]string{"host-1-sandboxd", "host-2-sandboxd"}, nodes); diff != "" {
			t.Errorf("nodes that were checked (-want +got):\n%s", diff)
		}
		if left := c.pods(); len(left) > 0 {
			t.Errorf("Pod %s is left", left[0].Name)
		}
		for _, line := range []string{"Running at 192.0.2.7 with claim", "is shown Bound", "is deleted and gone", "is released"} {
			if n := strings.Count(c.out.String(), line); n != 2 {
				t.Errorf("%q is printed %d times, want once a node:\n%s", line, n, &c.out)
			}
		}
	})
}

// A check that cannot see a step must not pass, must say what it saw and what to
// do, and must leave nothing behind.
func TestFailures(t *testing.T) {
	tests := map[string]struct {
		arrange func(*cluster)
		says    []string
		left    int // Pods that only the node could take away
	}{
		"sandboxd refuses": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) {
					delete(pod.Annotations, podcontract.AnnotationClaimID)
					pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Reason: podstatus.ReasonAwaitingClaim, Message: "unknown template"}
				}
			},
			[]string{"host-1-sandboxd: no running sandbox of template rt:24.04 after 2m0s", "host-2-sandboxd", "Pending: AwaitingSandbox: unknown template", "(hint for axes)"}, 0,
		},
		"the scheduler finds no place": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) {
					pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
						Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "untolerated taint",
					}}}
				}
			},
			[]string{"Pending: Unschedulable: untolerated taint"}, 0,
		},
		"no address": {
			func(c *cluster) { c.running = func(pod *corev1.Pod) { pod.Status.PodIP = "" } },
			[]string{"Running: without an address"}, 0,
		},
		"no claim id": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) { delete(pod.Annotations, podcontract.AnnotationClaimID) }
			},
			[]string{"Running: without a claim id"}, 0,
		},
		"the Pod fails": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) { pod.Status.Phase, pod.Status.Message = corev1.PodFailed, "lost" }
			},
			[]string{"has ended: Failed: lost"}, 0,
		},
		"somebody deletes the Pod": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) { now := metav1.Now(); pod.DeletionTimestamp = &now }
				c.keepsPods = true
			},
			[]string{"somebody has deleted Pod sandboxes/vk-sandbox-check-"}, 2,
		},
		"one node fails": {
			func(c *cluster) {
				c.running = func(pod *corev1.Pod) {
					if pod.Spec.NodeName == "host-1-sandboxd" {
						pod.Status = corev1.PodStatus{Phase: corev1.PodPending, Message: "no warm capacity"}
					}
				}
			},
			[]string{"host-1-sandboxd: no running sandbox", "no warm capacity"}, 0,
		},
		"the node keeps the Pod": {
			func(c *cluster) { c.keepsPods = true },
			[]string{"no end of the deleted Pod", "no end of Pod sandboxes/vk-sandbox-check-", "while cleaning up after 30s"}, 2,
		},
		"the node keeps the claim": {
			func(c *cluster) { c.keepsClaims = true },
			[]string{"no release of claim claim-of-vk-sandbox-check-", "still shown: Bound"}, 0,
		},
		"the node does not publish": {
			func(c *cluster) { c.hidesClaims = true },
			[]string{"in the NodeClaimStatus", "it is not there", "(hint for statuses)"}, 0,
		},
		"a node is away": {
			func(c *cluster) {
				c.update(node("host-1-sandboxd"), func(n *corev1.Node) { n.Status.Conditions = nil })
			},
			[]string{"host-1-sandboxd is not Ready", "delete it if its host has left for good"}, 0,
		},
		"a node is cordoned": {
			func(c *cluster) {
				c.update(node("host-2-sandboxd"), func(n *corev1.Node) { n.Spec.Unschedulable = true })
			},
			[]string{"host-2-sandboxd is cordoned"}, 0,
		},
		"a node is missing": {
			func(c *cluster) { c.daemons(3, 3) },
			[]string{"2 of 3 Nodes with the labels type=virtual-kubelet are registered"}, 0,
		},
		"a daemon is not Ready": {
			func(c *cluster) { c.daemons(2, 1) },
			[]string{"1 of 2 Pods of DaemonSet vk-sandbox are Ready", "kubectl -n sandboxes logs daemonset/vk-sandbox"}, 0,
		},
		"no host": {
			func(c *cluster) { c.daemons(0, 0) },
			[]string{"finds no host to run on"}, 0,
		},
		"no right to make Pods": {
			func(c *cluster) { c.fail("create", "pods", -1, forbidden("pods")) },
			[]string{"create Pod sandboxes/vk-sandbox-check-", "no right", "may create Pods"}, 0,
		},
		"no right to read the status": {
			func(c *cluster) { c.refused = forbidden("nodeclaimstatuses") },
			[]string{"in the NodeClaimStatus", "no right"}, 0,
		},
		"the answer to a creation is lost": {
			func(c *cluster) {
				c.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
					_, _, err := c.create(action)
					return true, nil, errors.Join(err, errors.New("connection reset"))
				})
			},
			[]string{"connection reset"}, 0,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				c := newCluster(t)
				test.arrange(c)
				began := time.Now()
				err := check.Run(t.Context(), c.config())
				if took := time.Since(began); took > 2*time.Minute+31*time.Second {
					t.Errorf("it took %s", took)
				}
				if err == nil {
					t.Fatalf("it passed:\n%s", &c.out)
				}
				// What the API server has refused, and what has ended, is not waited for.
				if final := name == "no right to read the status" || name == "the Pod fails"; final && errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it took %s: %v", time.Since(began), err)
				}
				for _, part := range append(test.says, "; next: ") {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q is not in the error: %v", part, err)
					}
				}
				if name == "one node fails" && (strings.Contains(err.Error(), "host-2") || !strings.Contains(c.out.String(), "host-2-sandboxd: claim")) {
					t.Errorf("the other node was not checked to its end: %v\n%s", err, &c.out)
				}
				if left := c.pods(); len(left) != test.left {
					t.Errorf("%d Pods are left, want %d", len(left), test.left)
				}
			})
		})
	}
}

// An API server that is away for a moment is no failure of the installation.
func TestAPIServerThatIsAway(t *testing.T) {
	for _, what := range []string{"get daemonsets", "list nodes", "get pods"} {
		t.Run(what, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				c := newCluster(t)
				verb, resource, _ := strings.Cut(what, " ")
				c.fail(verb, resource, 5, errors.New("connection refused"))
				if err := check.Run(t.Context(), c.config()); err != nil {
					t.Error(err)
				}
				if !strings.Contains(c.out.String(), "connection refused") {
					t.Errorf("it is not printed:\n%s", &c.out)
				}
			})
		})
	}
}

func TestInterrupted(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		c := newCluster(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(claimTime+time.Second, cancel)
		if err := check.Run(ctx, c.config()); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that it was canceled", err)
		}
		if left := c.pods(); len(left) > 0 {
			t.Errorf("Pod %s is left", left[0].Name)
		}
	})
}

// Where a claim cannot be seen, the end of its Pod suffices, and the output mentions it.
func TestClaimsThatAreNotShown(t *testing.T) {
	for name, test := range map[string]struct {
		arrange func(*cluster, *check.Config)
		printed string
	}{
		"left out":      {func(c *cluster, _ *check.Config) { c.left, c.hidesClaims = 3, true }, "leaves out 3 claims"},
		"not published": {func(_ *cluster, config *check.Config) { config.Statuses = nil }, "is deleted and gone"},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(t *testing.T) {
				c := newCluster(t)
				config := c.config()
				test.arrange(c, &config)
				if err := check.Run(t.Context(), config); err != nil {
					t.Error(err)
				}
				if !strings.Contains(c.out.String(), test.printed) || strings.Contains(c.out.String(), "is released") {
					t.Errorf("want %q printed, and no release:\n%s", test.printed, &c.out)
				}
			})
		})
	}
}

func TestIncompleteConfig(t *testing.T) {
	controller := true
	for name, test := range map[string]struct {
		spoil func(*check.Config)
		says  string
	}{
		"no namespace":       {func(c *check.Config) { c.Namespace = "" }, "namespace"},
		"no selector":        {func(c *check.Config) { c.Nodes = nil }, "selector"},
		"every node":         {func(c *check.Config) { c.Nodes = labels.Everything() }, "ordinary nodes"},
		"no template":        {func(c *check.Config) { c.Template = "" }, "template"},
		"no time":            {func(c *check.Config) { c.Timeout = 0 }, "timeout"},
		"a day":              {func(c *check.Config) { c.Timeout = 24 * time.Hour }, "timeout"},
		"a controller owner": {func(c *check.Config) { c.Owner = &metav1.OwnerReference{Controller: &controller} }, "bare"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			config := c.config()
			test.spoil(&config)
			if err := check.Run(t.Context(), config); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %q in it", err, test.says)
			}
			if len(c.Actions()) > 0 {
				t.Errorf("asked the API server: %v", c.Actions())
			}
		})
	}
}
