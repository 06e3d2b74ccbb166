// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
)

// Step is one thing that happens to the world. A and B choose among whatever
// there is to choose from when it happens.
type Step struct {
	Do   string
	A, B uint32
}

func (s Step) String() string { return fmt.Sprintf("{%q, %d, %d}", s.Do, s.A, s.B) }

// action is a kind of step.
type action struct {
	name   string
	weight int
	do     func(w *World, a, b uint32)
}

var errDisk = errors.New("no space left on device")

func pick[T any](n uint32, from ...T) T { return from[n%uint32(len(from))] }

func name(n uint32) string { return fmt.Sprintf("team-red/notebook-%d", n%5) }

func lease(n uint32) string { return pick(n, "86400", "86400", "60", "120", "600") }

// actions is everything that can happen.
func actions() []action {
	fault := func(f sandboxdsim.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, b uint32) {
			f := f
			f.Count = int(1 + a%4)
			f.For = sandboxdsim.Duration(time.Minute)
			f.Endpoint = pick(b, "claim", "claim", "release", "list", "get", "")
			_, _ = w.Sandboxd.AddFault(f)
		}
	}
	onList := func(f sandboxdsim.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, _ uint32) {
			f := f
			f.Endpoint, f.Count = "list", int(1+a%3)
			f.For = sandboxdsim.Duration(20 * time.Second)
			_, _ = w.Sandboxd.AddFault(f)
		}
	}
	return []action{
		{"sandbox with pod", 14, func(w *World, a, b uint32) { w.API.CreateOwner(name(a)); w.API.CreatePod(name(a), false, lease(b)) }},
		{"bare pod", 5, func(w *World, a, b uint32) { w.API.CreatePod(name(a), true, lease(b)) }},
		{"operator makes the missing pods", 8, func(w *World, _, b uint32) {
			for i := range uint32(5) {
				w.API.CreatePod(name(i), false, lease(b))
			}
		}},
		{"garbage is collected", 6, func(w *World, _, _ uint32) { w.API.CollectGarbage() }},
		{"delete pod", 10, func(w *World, a, _ uint32) { w.API.DeletePod(name(a)) }},
		{"remove pod at once", 5, func(w *World, a, _ uint32) { w.API.RemovePod(name(a), "") }},
		{"evict every pod", 2, func(w *World, _, _ uint32) {
			for i := range uint32(5) {
				w.API.DeletePod(name(i))
			}
		}},
		{"delete sandbox", 5, func(w *World, a, b uint32) { w.API.DeleteOwner(name(a), b%3 == 0) }},
		{"delete sandbox and pod", 5, func(w *World, a, _ uint32) { w.API.DeleteOwner(name(a), false); w.API.DeletePod(name(a)) }},
		{"recreate sandbox", 3, func(w *World, a, b uint32) {
			w.API.DeleteOwner(name(a), false)
			w.API.RemovePod(name(a), "")
			w.API.CreateOwner(name(a))
			w.API.CreatePod(name(a), false, lease(b))
		}},
		{"sandbox expires", 2, func(w *World, a, _ uint32) {
			w.API.SetReady(name(a), "False", "SandboxExpired")
			w.API.DeletePod(name(a))
		}},
		{"sandbox is suspended", 2, func(w *World, a, _ uint32) {
			if !w.API.Releasable(name(a), w.API.Owner(name(a))) {
				w.API.SetReady(name(a), "False", "SandboxSuspended")
				w.API.DeletePod(name(a))
			}
		}},

		{"api server", 8, func(w *World, a, _ uint32) {
			w.API.SetMood(pick(a, Well, Well, Well, Refusing, Erring, Forbidding, NoEndpoint, Slow))
		}},
		{"cache lags", 4, func(w *World, a, _ uint32) { w.kubelet(func(k *kubelet) { k.hold(a%2 == 0) }) }},
		{"deletions are lost", 3, func(w *World, a, _ uint32) { w.kubelet(func(k *kubelet) { k.loseDeletions(int(1 + a%2)) }) }},
		{"resync", 3, func(w *World, a, _ uint32) { w.kubelet(func(k *kubelet) { k.enqueue(name(a)) }) }},

		{"sandboxd answers 500", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 500})},
		{"sandboxd answers 503", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 503})},
		{"sandboxd answers 429", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 429, RetryAfter: sandboxdsim.Duration(7 * time.Second)})},
		{"sandboxd refuses the token", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionRejectToken})},
		{"sandboxd loses answers", 4, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDrop, Point: sandboxdsim.PointResponse})},
		{"sandboxd drops requests", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDrop})},
		{"sandboxd hangs", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionHang})},
		{"sandboxd is slow", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDelay, Delay: sandboxdsim.Duration(20 * time.Second)})},
		{"sandboxd truncates", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionTruncate})},
		{"list is empty", 3, onList(sandboxdsim.Fault{Action: sandboxdsim.ActionEmpty})},
		{"list is partial", 3, onList(sandboxdsim.Fault{Action: sandboxdsim.ActionOmit, Fraction: 0.5})},
		{"sandboxd restarts", 4, func(w *World, a, b uint32) {
			// An index that is wrong for a minute on end cannot be told from
			// one whose sandboxes are gone.
			if time.Since(w.lied) < 45*time.Second {
				return
			}
			o := sandboxdsim.RestartOptions{Down: sandboxdsim.Duration(pick(a, 0, time.Second, 30*time.Second, 5*time.Minute))}
			if span := pick(b, 0, 5*time.Second, 20*time.Second); span > 0 {
				o.Rebuild = sandboxdsim.Rebuild{
					For:   sandboxdsim.Duration(span),
					Index: pick(a>>8, sandboxdsim.IndexEmpty, sandboxdsim.IndexPartial, sandboxdsim.IndexUnavailable),
				}
			}
			w.lied = time.Now().Add(time.Duration(o.Down + o.Rebuild.For))
			must(w, w.Sandboxd.Restart(o))
		}},
		{"a sandbox is hibernated", 1, func(w *World, a, _ uint32) { w.some(a, w.Sandboxd.Hibernate) }},
		{"a sandbox is archived", 2, func(w *World, a, _ uint32) { w.some(a, w.Sandboxd.Archive) }},
		{"a sandbox wakes", 1, func(w *World, a, _ uint32) { w.some(a, w.Sandboxd.Wake) }},
		{"a sandbox is lost", 2, func(w *World, a, _ uint32) { w.some(a, w.Sandboxd.Lose) }},
		{"a lease ends", 2, func(w *World, a, _ uint32) { w.some(a, w.Sandboxd.Expire) }},
		{"a lease moves", 2, func(w *World, a, b uint32) {
			w.some(a, func(id string) error {
				return w.Sandboxd.MoveLease(id, time.Now().Add(pick(b, time.Minute, 6*time.Hour)))
			})
		}},

		{"the disk is full", 4, func(w *World, a, _ uint32) {
			op := pick(a, faultfs.Ops...)
			w.FS.SetFault(func(at faultfs.Op) error {
				if at == op {
					return errDisk
				}
				return nil
			})
		}},
		{"the disk fails at times", 3, func(w *World, a, b uint32) {
			rng := rand.New(rand.NewPCG(uint64(a), uint64(b)))
			w.FS.SetFault(func(faultfs.Op) error {
				if rng.IntN(8) == 0 {
					return errDisk
				}
				return nil
			})
		}},
		{"the disk works", 6, func(w *World, _, _ uint32) { w.FS.SetFault(nil) }},
		{"the machine crashes at a write", 3, func(w *World, a, b uint32) {
			op, left := pick(a, faultfs.Ops...), int(b%4)
			w.FS.SetFault(func(at faultfs.Op) error {
				if at == op {
					if left--; left < 0 {
						return faultfs.ErrCrashed
					}
				}
				return nil
			})
			w.Wait(time.Duration(a%10) * time.Second)
			w.Crash(true)
		}},
		{"the machine crashes", 2, func(w *World, _, _ uint32) { w.Crash(true) }},
		{"the daemon is killed", 4, func(w *World, _, _ uint32) { w.Crash(false) }},
		{"the daemon stops", 3, func(w *World, _, _ uint32) { w.Stop() }},
		{"a moment", 12, func(w *World, a, _ uint32) { w.Wait(time.Duration(a%3000) * time.Millisecond) }},
		{"half a minute", 8, func(w *World, a, _ uint32) { w.Wait(time.Duration(10+a%30) * time.Second) }},
		{"some minutes", 3, func(w *World, a, _ uint32) { w.Wait(time.Duration(1+a%12) * time.Minute) }},
	}
}

func must(w *World, err error) {
	if err != nil {
		w.t.Errorf("the simulator refused a step: %v", err)
	}
}

// kubelet acts on the running daemon's cache, if there is one.
func (w *World) kubelet(do func(*kubelet)) {
	if w.daemon != nil {
		do(w.daemon.kubelet)
	}
}

// some does something to one of the claimed sandboxes. Not everything can be
// done to every sandbox; what cannot is not done.
func (w *World) some(n uint32, do func(id string) error) {
	var ids []string
	for _, vm := range w.Sandboxd.Truth(sandboxdsim.EventFilter{After: 1 << 62}).VMs {
		if vm.State != sandboxdsim.StateWarm {
			ids = append(ids, vm.ID)
		}
	}
	if len(ids) > 0 {
		_ = do(pick(n, ids...))
	}
}

// NewHistory draws n steps.
func NewHistory(seed uint64, n int) []Step {
	rng := rand.New(rand.NewPCG(seed, 2))
	var deck []string
	for _, a := range actions() {
		for range a.weight {
			deck = append(deck, a.name)
		}
	}
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Step{deck[rng.IntN(len(deck))], rng.Uint32(), rng.Uint32()}
	}
	return steps
}
