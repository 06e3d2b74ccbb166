// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"math/rand/v2"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// hostActions change the disk, the machine and the daemon, or let time pass.
func hostActions() []action {
	return []action{
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
