// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// other returns the name of a second Sandbox, whose Pod may have the first one's name.
func other(n uint32) string { return name(n) + "-b" }

// clusterActions change ownership and the cluster itself.
func clusterActions() []action {
	return []action{
		{"a pod's controller changes", 7, func(w *World, a, b uint32) {
			to := pick(b, "", name(a), other(a), other(a))
			from := w.API.Controller(name(a))
			if to == other(a) {
				w.API.CreateOwner(to)
			}
			if !w.API.Transfer(name(a), to, (b>>4)%4 == 0) {
				return
			}
			if (b>>6)%2 == 0 && from != "" && from != to {
				w.API.DeleteOwner(from, false)
			}
			switch (b >> 8) % 4 {
			case 0:
				w.API.RemovePod(name(a), "")
			case 1:
				w.API.DeletePod(name(a))
			}
		}},
		{"delete the other sandbox", 3, func(w *World, a, _ uint32) { w.API.DeleteOwner(other(a), false) }},
		{"the other sandbox makes its pod", 4, func(w *World, a, b uint32) { w.API.CreatePodOf(other(a), apiserver.NewPod(name(a), lease(b))) }},

		{"finalizers are removed", 4, func(w *World, a, _ uint32) { w.API.RemoveFinalizers(name(a)) }},

		{"the api server is backed up", 4, func(w *World, _, _ uint32) { w.API.Backup() }},
		{"the api server is restored", 2, func(w *World, _, _ uint32) { w.model.Restore() }},

		{"the daemon meets another api server", 1, func(w *World, a, b uint32) {
			w.StartElsewhere(time.Duration(1+a%5)*time.Minute, b%2 == 0)
		}},
		{"another api server answers", 1, func(w *World, a, _ uint32) { w.AnswerFromElsewhere(time.Duration(1+a%5) * time.Minute) }},
	}
}
