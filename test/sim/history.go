// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// settleTime is longer than every back-off and every lease but the day-long.
const settleTime = 25 * time.Minute

// Outcome is how a history ended.
type Outcome struct {
	// Violations are the rules that were broken; none is good.
	Violations []string
	// Step is the step after which the first violation was seen; the number of
	// steps when it was seen at the end.
	Step int
	// Log is the daemon's log.
	Log string
}

// Play runs a history in a world of its own.
func Play(t *testing.T, seed uint64, steps []Step) (o Outcome) {
	synctest.Test(t, func(t *testing.T) {
		do := map[string]func(*World, uint32, uint32){}
		for _, a := range actions() {
			do[a.name] = a.do
		}
		w := NewWorld(t, seed, 4)
		defer func() { o.Log = w.Log.String(); w.Close() }()
		for i, s := range steps {
			w.restart()
			do[s.Do](w, s.A, s.B)
			w.Wait(time.Second)
			if o.Violations = w.model.check(); len(o.Violations) > 0 {
				o.Step = i
				return
			}
		}
		o.Step = len(steps)
		w.heal()
		w.Wait(settleTime)
		o.Violations = w.model.settled()
	})
	return o
}

// restart starts the daemon when it is not running. On a disk that fails it
// refuses, and is started again after a later step.
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

// heal lifts every fault but the lasting ones, and for every other seed what holds
// up deleted Pods.
func (w *World) heal() {
	w.FS.SetFault(nil)
	w.API.SetMood(Well)
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
	w.kubelet(func(k *kubelet) { k.hold(false); k.slow(0); k.loseDeletions(0) })
	if w.daemon != nil && w.daemon.exited.Load() {
		w.Stop()
	}
	if w.daemon == nil {
		if err := w.Start(); err != nil {
			w.t.Errorf("the daemon does not start on a healthy machine: %v", err)
		}
	}
}
