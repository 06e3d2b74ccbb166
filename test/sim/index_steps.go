// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"encoding/json"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
)

const (
	// longestLie is how long the list and the single reads can be wrong together.
	// A provider may take an absence for the end only when it lasts longer.
	longestLie = 4 * time.Minute
	// honestTime is how long the index is right between two such times, so that
	// whoever looks every minute or two sees that it is.
	honestTime = 3 * time.Minute
)

// indexActions is what happens to sandboxd's index.
func indexActions() []action {
	// The list alone can be wrong for any time: a single read says otherwise.
	onList := func(f sandboxdsim.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, b uint32) {
			f := f
			f.Endpoint, f.Count = "list", int(1+a%3)
			f.For = sandboxdsim.Duration(20 * time.Second)
			if b%3 == 0 {
				f.Count, f.For = 0, sandboxdsim.Duration(longestLie)
			}
			w.addFault(f)
		}
	}
	return []action{
		{"list is empty", 3, onList(sandboxdsim.Fault{Action: sandboxdsim.ActionEmpty})},
		{"list is partial", 3, onList(sandboxdsim.Fault{Action: sandboxdsim.ActionOmit, Fraction: 0.5})},
		{"sandboxd restarts", 4, func(w *World, a, b uint32) {
			if time.Since(w.lied) < honestTime {
				return
			}
			o := sandboxdsim.RestartOptions{Down: sandboxdsim.Duration(pick(a, 0, time.Second, 30*time.Second, 5*time.Minute))}
			if span := pick(b, 0, 5*time.Second, 20*time.Second, 90*time.Second, longestLie); span > 0 {
				o.Rebuild = sandboxdsim.Rebuild{
					For:   sandboxdsim.Duration(span),
					Index: pick(a>>8, sandboxdsim.IndexEmpty, sandboxdsim.IndexPartial, sandboxdsim.IndexUnavailable),
				}
			}
			w.lied = time.Now().Add(time.Duration(o.Down + o.Rebuild.For))
			must(w, w.Sandboxd.Restart(o))
		}},
		{"one row is odd", 3, func(w *World, a, b uint32) {
			w.some(a, func(id string) error {
				f := sandboxdsim.Fault{
					Endpoint: "list", Action: sandboxdsim.ActionRewrite, Sandboxes: []string{id}, For: sandboxdsim.Duration(10 * time.Minute),
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
				w.addLasting(a, sandboxdsim.Fault{
					Endpoint: "get", Action: sandboxdsim.ActionStatus, Status: 500, Sandboxes: []string{id}, For: sandboxdsim.Duration(10 * time.Minute),
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

func (w *World) addFault(f sandboxdsim.Fault) {
	_, err := w.Sandboxd.AddFault(f)
	must(w, err)
}

// addLasting adds a fault that must keep nothing but its own sandbox from its end.
// One in four stays when all others are lifted.
func (w *World) addLasting(n uint32, f sandboxdsim.Fault) {
	w.addFault(f)
	if (n>>16)%4 == 0 {
		w.lasting = append(w.lasting, f)
	}
}
