// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

const nb = "team-red/notebook-a"

// play runs a scenario in its own world with a running daemon. At the end it also
// checks the model's rules.
func play(t *testing.T, scenario func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := NewWorld(t, 1, 4)
		defer w.Close()
		w.mustStart()
		scenario(t, w)
		for _, v := range w.model.Check() {
			t.Error(v)
		}
	})
}

func (w *World) mustStart() {
	w.t.Helper()
	if err := w.Start(); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait() // until the table is accepted
}

// run creates a Sandbox with a Pod and waits until the Pod runs.
func (w *World) run(key string) (claim string) {
	w.t.Helper()
	w.API.CreateOwner(key)
	w.API.CreatePod(key, false, "86400")
	w.Wait(2 * time.Second)
	return w.running(key)
}

// running returns the claim of a Pod that must be Running.
func (w *World) running(key string) string {
	w.t.Helper()
	p := w.API.Pod(key)
	if p == nil || p.Status.Phase != corev1.PodRunning {
		w.t.Fatalf("%s is not running: %s", key, w.describe(key))
	}
	return podstatus.ClaimID(p)
}

func (w *World) alive() map[string]history.VM { return w.model.VMs() }

func (w *World) lives(id string) bool { return w.model.HasVM(id) }

func (w *World) describe(key string) string {
	p := w.API.Pod(key)
	if p == nil {
		return "there is no such pod"
	}
	return fmt.Sprintf("%s %s %s: %s", p.UID, p.Status.Phase, p.Status.Reason, p.Status.Message)
}

func (w *World) counters() history.Counters {
	return w.Sandboxd.History(history.Filter{After: 1 << 62}).Counters
}

// posts returns the number of claim requests.
func (w *World) posts() int {
	return w.Sandboxd.Requests.List(history.RequestFilter{Endpoint: "claim"}).Counts["claim"]
}

func (w *World) fault(f fault.Fault) {
	w.t.Helper()
	if _, err := w.Sandboxd.Faults.Add(f); err != nil {
		w.t.Fatal(err)
	}
}

func (w *World) released() (ids []string) {
	for _, e := range w.Sandboxd.History(history.Filter{Type: history.EventReleased}).Events {
		ids = append(ids, e.Sandbox)
	}
	return ids
}

func TestTokensStayInTheDaemon(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.Stop()
		w.Measure = true
		w.mustStart()
		id := w.run(nb)
		token, err := w.Sandboxd.Token(id)
		if err != nil {
			t.Fatal(err)
		}
		w.fault(fault.Fault{Action: fault.ActionStatus, Status: 500, Message: token + rootToken, Count: 40})
		w.fault(fault.Fault{Action: fault.ActionRejectToken, Count: 5})
		w.API.CreatePod("team-red/bare", true, "86400")
		w.API.DeleteOwner(nb, false)
		w.API.DeletePod(nb)
		w.Wait(10 * time.Minute)
		if !strings.Contains(w.Log.String(), "sandboxd") {
			t.Fatal("the log is empty, so this test could not find a leak")
		}
		w.scrape()
		// The model searches every log line, status, request and metric.
	})
}

func ptr[T any](v T) *T { return &v }
