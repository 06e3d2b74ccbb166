// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

// watched is the provider state that the metrics read.
type watched struct {
	reachable metav1.ConditionStatus
	audit     sandboxes.Audit
	held      int
	// unadoptable is the number of claims that no Pod can adopt.
	unadoptable int
	ending      int
}

func (w *watched) SandboxdReachable() metav1.Condition { return metav1.Condition{Status: w.reachable} }
func (w *watched) Audit() sandboxes.Audit              { return w.audit }
func (w *watched) HeldClaims() int                     { return w.held }
func (w *watched) UnadoptableClaims() int              { return w.unadoptable }
func (w *watched) LeasesEnding() int                   { return w.ending }

func TestMetricsOfTheLoops(t *testing.T) {
	m := metrics.NewRegistry("")
	w := &watched{
		reachable: metav1.ConditionTrue,
		audit:     sandboxes.Audit{At: time.Unix(1700000000, 5e8), Counts: map[sandboxes.Finding]int{sandboxes.Stray: 2}},
	}
	provider.NewMetrics(m).Watch(w)
	scrape.Read(t, m.Handler()).Want(t, map[string]string{
		"sandboxd_reachable": "1", "claims_held": "0", "claims_unadoptable": "0", "leases_ending": "0",
		"orphan_scan_findings{finding=\"stray\"}":    "2",
		"orphan_scan_findings{finding=\"orphan\"}":   "0",
		"orphan_scan_last_success_timestamp_seconds": "1.7000000005e+09",
	})
	w.reachable, w.held, w.unadoptable, w.ending = metav1.ConditionFalse, 3, 2, 4
	scrape.Read(t, m.Handler()).Want(t, map[string]string{"sandboxd_reachable": "0", "claims_held": "3", "claims_unadoptable": "2", "leases_ending": "4"})
	*w = watched{reachable: metav1.ConditionUnknown}
	for name := range scrape.Read(t, m.Handler()).Types {
		if strings.Contains(name, "orphan_scan") || strings.Contains(name, "reachable") {
			t.Errorf("%s has a value before anything is known", name)
		}
	}
}

// failing fails every operation with one error, after a second.
type failing struct {
	provider.Lifecycle
	err error
}

func (f failing) answer() error { time.Sleep(time.Second); return f.err }

func (f failing) CreatePod(context.Context, *corev1.Pod) error { return f.answer() }
func (f failing) UpdatePod(context.Context, *corev1.Pod) error { return f.answer() }
func (f failing) DeletePod(context.Context, *corev1.Pod) error { return f.answer() }

func TestMetricsOfPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry("")
		measure := provider.NewMetrics(m).Measure
		errs := []error{nil, context.Canceled, errors.New("anything")}
		for _, class := range []sandboxd.Class{
			sandboxd.NoCapacity, sandboxd.Invalid, sandboxd.Unauthorized, sandboxd.NotFound, sandboxd.Unavailable, sandboxd.Unreachable,
		} {
			errs = append(errs, errors.Join(errors.New("around"), &sandboxd.Error{Op: "x", Class: class}))
		}
		if len(errs) != len(sandboxd.Results()) {
			t.Fatalf("%d errors for the results %q", len(errs), sandboxd.Results())
		}
		for _, err := range errs {
			counted := measure(failing{err: err})
			for verb, do := range map[string]func(context.Context, *corev1.Pod) error{
				"create": counted.CreatePod, "update": counted.UpdatePod, "delete": counted.DeletePod,
			} {
				if got := do(t.Context(), &corev1.Pod{}); !errors.Is(got, err) {
					t.Errorf("%s: the error %v became %v", verb, err, got)
				}
			}
		}
		s := scrape.Read(t, m.Handler())
		for _, verb := range []string{"create", "update", "delete"} {
			for _, result := range sandboxd.Results() {
				s.Want(t, map[string]string{"pod_operations_total{operation=\"" + verb + "\",result=\"" + result + "\"}": "1"})
			}
			s.Want(t, map[string]string{"pod_operation_duration_seconds_sum{operation=\"" + verb + "\"}": "9"})
		}
	})
}
