// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
	"github.com/cocoonstack/vk-sandbox/test/sim/kubelet"
)

// recoveryTime is longer than every back-off and every lease but the one-day lease.
const recoveryTime = 25 * time.Minute

// Outcome is the result of a history.
type Outcome struct {
	// Violations are the broken rules; empty for a good history.
	Violations []string
	// Step is the step after which the first violation was found, or the number of
	// steps if it was found at the end.
	Step int
	// Log is the daemon's log.
	Log string
}

// Play runs a history in a world of its own.
func Play(t *testing.T, seed uint64, steps []Step) (o Outcome) {
	synctest.Test(t, func(t *testing.T) {
		do := map[string]func(*World, uint32, uint32){}
		for _, a := range append(actions(), replicaActions()...) {
			do[a.name] = a.do
		}
		w := NewWorld(t, seed, 4)
		defer func() { o.Log = w.Log.String(); w.Close() }()
		for i, s := range steps {
			w.restart()
			do[s.Do](w, s.A, s.B)
			w.Wait(time.Second)
			if o.Violations = w.model.Check(); len(o.Violations) > 0 {
				o.Step = i
				return
			}
		}
		o.Step = len(steps)
		w.heal()
		w.Wait(recoveryTime)
		o.Violations = w.model.CheckFinal()
	})
	return o
}

// restart starts the daemon if it is not running. A start can fail with the disk; the
// next step tries again.
func (w *World) restart() {
	if w.daemon != nil && w.daemon.exited.Load() {
		w.Stop()
	}
	if w.daemon == nil {
		if err := w.Start(); err != nil {
			fmt.Fprintln(w.Log, "the daemon did not start:", err)
		}
	}
}

// heal lifts every fault but the lasting ones. For even seeds it also removes the
// finalizers of Pods.
func (w *World) heal() {
	w.FS.SetFault(nil)
	w.API.SetMode(apiserver.Healthy)
	w.API.CollectGarbage()
	if w.seed%2 == 0 {
		for key := range w.API.Pods() {
			w.API.RemoveFinalizers(key)
		}
	}
	w.Sandboxd.Faults.Clear()
	for _, f := range w.lasting {
		f.Count, f.For = 0, metav1.Duration{}
		w.addFault(f)
	}
	w.onKubelet(func(k *kubelet.Kubelet) { k.HoldCache(false); k.DelayWatch(0); k.LoseDeletions(0) })
	if w.daemon != nil && w.daemon.exited.Load() {
		w.Stop()
	}
	if w.daemon == nil {
		if err := w.Start(); err != nil {
			w.t.Errorf("the daemon does not start on a healthy machine: %v", err)
		}
	}
}
