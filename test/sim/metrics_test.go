// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// scrape returns the metrics of the running daemon. It searches them for credentials.
func (w *World) scrape() string {
	w.t.Helper()
	rec := httptest.NewRecorder()
	w.daemon.metrics.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	w.leaks.Look(rec.Body.Bytes())
	if !strings.Contains(rec.Body.String(), "vk_sandbox_claims{") {
		w.t.Fatalf("no metrics: %s", rec.Body)
	}
	return rec.Body.String()
}

func TestMetrics(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.Stop()
		w.Measure = true
		w.mustStart()
		want := func(lines ...string) {
			t.Helper()
			text := w.scrape()
			for _, line := range lines {
				if !strings.Contains(text, "\nvk_sandbox_"+line+"\n") {
					t.Errorf("the metrics lack %s", line)
				}
			}
		}
		w.run(nb)
		w.Wait(time.Minute)
		want(
			`claims{state="bound"} 1`, `claims_table_durable 1`, `sandboxd_reachable 1`,
			`sandboxd_requests_total{operation="claim",result="success"} 1`, `orphan_scan_findings{finding="stray"} 0`,
		)

		// One answer is lost: its VM is a stray, and the Pod gets another.
		w.fault(fault.Fault{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse, Count: 1})
		w.run("team-red/unlucky")
		w.Wait(3 * time.Minute)
		want(
			`sandboxd_requests_total{operation="claim",result="unreachable"} 1`,
			`sandboxd_requests_total{operation="claim",result="success"} 2`, `orphan_scan_findings{finding="stray"} 1`,
		)

		w.API.DeletePod(nb)
		w.Wait(time.Minute)
		want(`claims{state="preserved"} 1`)
		w.API.DeleteOwner(nb, false)
		w.Wait(10 * time.Minute)
		want(
			`claims{state="bound"} 1`, `claims{state="preserved"} 0`, `owner_verdicts_total{cause="gone",verdict="release"} 2`, // the owner's, and its Pod's
			`sandboxd_requests_total{operation="release",result="success"} 1`,
		)

		w.fault(fault.Fault{Action: fault.ActionDrop})
		w.Wait(time.Minute)
		want(`sandboxd_reachable 0`)
		w.Sandboxd.Faults.Clear()
		w.Wait(time.Minute)
	})
}
