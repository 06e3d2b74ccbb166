// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
)

// sandboxdActions is what sandboxd does with requests and with sandboxes.
func sandboxdActions() []action {
	fault := func(f sandboxdsim.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, b uint32) {
			f := f
			f.Count = int(1 + a%4)
			f.For = sandboxdsim.Duration(time.Minute)
			f.Endpoint = pick(b, "claim", "claim", "release", "list", "get", "")
			_, _ = w.Sandboxd.AddFault(f)
		}
	}
	return []action{
		{"sandboxd answers 500", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 500})},
		{"sandboxd answers 503", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 503})},
		{"sandboxd answers 429", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionStatus, Status: 429, RetryAfter: sandboxdsim.Duration(7 * time.Second)})},
		{"sandboxd refuses the token", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionRejectToken})},
		{"sandboxd loses answers", 4, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDrop, Point: sandboxdsim.PointResponse})},
		{"sandboxd drops requests", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDrop})},
		{"sandboxd hangs", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionHang})},
		{"sandboxd is slow", 3, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionDelay, Delay: sandboxdsim.Duration(20 * time.Second)})},
		{"sandboxd truncates", 2, fault(sandboxdsim.Fault{Action: sandboxdsim.ActionTruncate})},
		{"sandboxd is slow to claim", 2, func(w *World, a, b uint32) {
			w.addFault(sandboxdsim.Fault{
				Endpoint: "claim", Action: sandboxdsim.ActionDelay, Count: int(1 + a%4),
				Delay: sandboxdsim.Duration(pick(b, 45*time.Second, 58*time.Second, 75*time.Second)),
			})
		}},
		{"sandboxd refuses the sandboxes' own tokens", 2, func(w *World, a, _ uint32) {
			w.addLasting(a, sandboxdsim.Fault{
				Endpoint: "release", Action: sandboxdsim.ActionRejectSandboxToken, For: sandboxdsim.Duration(10 * time.Minute),
			})
		}},
		{"a claim's address is odd", 3, func(w *World, a, b uint32) {
			w.addLasting(a, sandboxdsim.Fault{
				Endpoint: "claim", Action: sandboxdsim.ActionRewrite, Count: int(1 + a%4),
				Fields: field("owner_addr", pick(b, `"10.0.0.5"`, `"fd00::5"`, `"sandboxd.local:7777"`, `"0.0.0.0:7777"`, `"[::]:7777"`, `""`, `null`)),
			})
		}},
		{"a claim has no deadline", 3, func(w *World, a, _ uint32) {
			w.addFault(sandboxdsim.Fault{
				Endpoint: "claim", Action: sandboxdsim.ActionRewrite, Count: int(1 + a%4), Fields: field("deadline", "null"),
			})
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
	}
}
