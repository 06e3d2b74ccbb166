// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

const (
	// maxIndexFault is how long the list and the single reads can be wrong together.
	// The provider must not treat a shorter absence as the end of a sandbox.
	maxIndexFault = 4 * time.Minute
	// minIndexCorrect is how long the index is correct between two such periods, so
	// that a check every one or two minutes sees a correct index.
	minIndexCorrect = 3 * time.Minute
)

// indexActions change sandboxd's index.
func indexActions() []action {
	// The list alone can be wrong for any time: single reads stay correct.
	onList := func(f fault.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, b uint32) {
			f := f
			f.Endpoint, f.Count = "list", int(1+a%3)
			f.For = metav1.Duration{Duration: 20 * time.Second}
			if b%3 == 0 {
				f.Count, f.For = 0, metav1.Duration{Duration: maxIndexFault}
			}
			w.addFault(f)
		}
	}
	return []action{
		{"list is empty", 3, onList(fault.Fault{Action: fault.ActionEmpty})},
		{"list is partial", 3, onList(fault.Fault{Action: fault.ActionOmit, Fraction: 0.5})},
		{"sandboxd restarts", 4, func(w *World, a, b uint32) {
			if time.Since(w.indexWrongUntil) < minIndexCorrect {
				return
			}
			o := sandboxdsim.RestartOptions{Down: metav1.Duration{Duration: pick(a, 0, time.Second, 30*time.Second, 5*time.Minute)}}
			if span := pick(b, 0, 5*time.Second, 20*time.Second, 90*time.Second, maxIndexFault); span > 0 {
				o.Rebuild = fault.Rebuild{
					For:   metav1.Duration{Duration: span},
					Index: pick(a>>8, fault.IndexEmpty, fault.IndexPartial, fault.IndexUnavailable),
				}
			}
			w.indexWrongUntil = time.Now().Add(o.Down.Duration + o.Rebuild.For.Duration)
			must(w, w.Sandboxd.Restart(o))
		}},
		{"one row is odd", 3, func(w *World, a, b uint32) {
			w.some(a, func(id string) error {
				f := fault.Fault{
					Endpoint: "list", Action: fault.ActionRewrite, Sandboxes: []string{id}, For: metav1.Duration{Duration: 10 * time.Minute},
					Fields: pick(b, field("deadline", `""`), field("deadline", "12"), field("deadline", "null"), field("claimed_at", `""`), field("hibernated", `"no"`)),
				}
				w.addLasting(a, f)
				if b%4 == 0 {
					f.Endpoint = "get"
					w.addFault(f)
				}
				return nil
			})
		}},
		{"one sandbox cannot be read", 3, func(w *World, a, b uint32) {
			w.some(a, func(id string) error {
				w.addLasting(a, fault.Fault{
					Endpoint: "get", Action: fault.ActionStatus, Status: 500, Sandboxes: []string{id}, For: metav1.Duration{Duration: 10 * time.Minute},
				})
				if b%2 == 0 {
					return w.Sandboxd.Lose(id)
				}
				return nil
			})
		}},
	}
}

func field(name, value string) map[string]json.RawMessage {
	return map[string]json.RawMessage{name: json.RawMessage(value)}
}

func (w *World) addFault(f fault.Fault) {
	_, err := w.Sandboxd.Faults.Add(f)
	must(w, err)
}

// addLasting adds a fault that must not delay any sandbox but its own. One in four
// stays until the end of the history.
func (w *World) addLasting(n uint32, f fault.Fault) {
	w.addFault(f)
	if (n>>16)%4 == 0 {
		w.lasting = append(w.lasting, f)
	}
}
