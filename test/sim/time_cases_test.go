// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

func TestClaimsSurviveLongOutage(t *testing.T) {
	t.Run("sandboxd refuses for two hours", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			id := w.run(nb)
			if err := w.Sandboxd.Restart(sandboxdsim.RestartOptions{Down: metav1.Duration{Duration: 2 * time.Hour}}); err != nil {
				t.Fatal(err)
			}
			w.API.DeleteOwner(nb, true)
			w.API.DeletePod(nb)
			w.Wait(time.Hour)
			if c, ok := w.Table().Get(nb); !ok || c.ID != id {
				t.Fatal("the row is gone before the node has confirmed")
			}
			w.Wait(90 * time.Minute)
			if w.lives(id) || w.API.Pod(nb) != nil || len(w.Table().List()) != 0 {
				t.Errorf("after recovery: sandbox lives %v, pod %s", w.lives(id), w.describe(nb))
			}
		})
	})
	t.Run("a lease ends while the api is away", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			w.running(nb)
			w.API.SetMode(apiserver.Refusing)
			w.Wait(20 * time.Minute)
			w.API.SetMode(apiserver.Healthy)
			w.Wait(time.Minute)
			if p := w.API.Pod(nb); p.Status.Phase != corev1.PodFailed || p.Status.Reason != podstatus.ReasonLeaseExpired {
				t.Errorf("after the outage: %s", w.describe(nb))
			}
		})
	})
}

func TestLeaseEndNeedsNodeConfirmation(t *testing.T) {
	t.Run("a lease that was extended on the node", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			id := w.running(nb)
			if err := w.Sandboxd.MoveLease(id, time.Now().Add(6*time.Hour)); err != nil {
				t.Fatal(err)
			}
			lists := w.Sandboxd.Requests.List(history.RequestFilter{}).Counts["list"]
			w.Wait(time.Hour)
			if w.running(nb) != id {
				t.Error("the sandbox was replaced")
			}
			// One listing refreshes the cached deadline; the rest are the
			// audit's, once a minute.
			if got := w.Sandboxd.Requests.List(history.RequestFilter{}).Counts["list"] - lists; got > 65 {
				t.Errorf("%d listings in an hour: the lease check polls too often", got)
			}
		})
	})
	t.Run("a node that cannot be listed defers", func(t *testing.T) {
		play(t, func(t *testing.T, w *World) {
			w.API.CreateOwner(nb)
			w.API.CreatePod(nb, false, "300")
			w.Wait(2 * time.Second)
			id := w.running(nb)
			w.fault(fault.Fault{Endpoint: "list", Action: fault.ActionStatus, Status: 500})
			w.Wait(time.Hour)
			if w.running(nb) != id {
				t.Error("the Pod was changed because of the clock alone")
			}
			w.Sandboxd.Faults.Clear()
			w.Wait(3 * time.Minute)
			if p := w.API.Pod(nb); p.Status.Reason != podstatus.ReasonLeaseExpired {
				t.Errorf("once the node answers: %s", w.describe(nb))
			}
		})
	})
}

// A state is logged only when it changes, so a long outage does not fill the log.
func TestLongOutageLogsLittle(t *testing.T) {
	for name, outage := range map[string]func(w *World){
		"sandboxd refuses its credential": func(w *World) {
			w.fault(fault.Fault{Action: fault.ActionStatus, Status: 401})
		},
		"the disk is full": func(w *World) { w.FS.SetFault(func(faultfs.Op) error { return errDisk }) },
		"the api is away":  func(w *World) { w.API.SetMode(apiserver.Refusing) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				w.run("team-red/running")
				w.run("team-red/kept")
				w.run("team-red/going")
				w.API.DeletePod("team-red/kept")
				w.Wait(time.Minute)
				outage(w)
				w.API.DeleteOwner("team-red/going", false)
				w.API.DeletePod("team-red/going")
				w.API.CreateOwner("team-red/coming")
				w.API.CreatePod("team-red/coming", false, "86400")
				w.Wait(5 * time.Minute)
				before := len(w.Log.String())
				w.Wait(2 * time.Hour)
				lines := 0
				for line := range strings.Lines(w.Log.String()[before:]) {
					if strings.Contains(line, "level=INFO") || strings.Contains(line, "level=ERROR") {
						lines++
						t.Log(strings.TrimSpace(line))
					}
				}
				if lines > 3 {
					t.Errorf("%d lines in two hours in which nothing changed", lines)
				}
			})
		})
	}
}
