// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

// sandboxdActions change sandboxd's answers and its sandboxes.
func sandboxdActions() []action {
	add := func(f fault.Fault) func(*World, uint32, uint32) {
		return func(w *World, a, b uint32) {
			f := f
			f.Count = int(1 + a%4)
			f.For = metav1.Duration{Duration: time.Minute}
			f.Endpoint = pick(b, "claim", "claim", "release", "list", "get", "")
			_, _ = w.Sandboxd.Faults.Add(f)
		}
	}
	return []action{
		{"sandboxd answers 500", 3, add(fault.Fault{Action: fault.ActionStatus, Status: 500})},
		{"sandboxd answers 503", 2, add(fault.Fault{Action: fault.ActionStatus, Status: 503})},
		{"sandboxd answers 429", 3, add(fault.Fault{Action: fault.ActionStatus, Status: 429, RetryAfter: metav1.Duration{Duration: 7 * time.Second}})},
		{"sandboxd refuses the token", 2, add(fault.Fault{Action: fault.ActionRejectToken})},
		{"sandboxd loses answers", 4, add(fault.Fault{Action: fault.ActionDrop, Point: fault.PointResponse})},
		{"sandboxd drops requests", 2, add(fault.Fault{Action: fault.ActionDrop})},
		{"sandboxd hangs", 2, add(fault.Fault{Action: fault.ActionHang})},
		{"sandboxd is slow", 3, add(fault.Fault{Action: fault.ActionDelay, Delay: metav1.Duration{Duration: 20 * time.Second}})},
		{"sandboxd truncates", 2, add(fault.Fault{Action: fault.ActionTruncate})},
		{"sandboxd is slow to claim", 2, func(w *World, a, b uint32) {
			w.addFault(fault.Fault{
				Endpoint: "claim", Action: fault.ActionDelay, Count: int(1 + a%4),
				Delay: metav1.Duration{Duration: pick(b, 45*time.Second, 58*time.Second, 75*time.Second)},
			})
		}},
		{"sandboxd refuses the sandboxes' own tokens", 2, func(w *World, a, _ uint32) {
			w.addLasting(a, fault.Fault{
				Endpoint: "release", Action: fault.ActionRejectSandboxToken, For: metav1.Duration{Duration: 10 * time.Minute},
			})
		}},
		{"a claim's address is odd", 3, func(w *World, a, b uint32) {
			w.addLasting(a, fault.Fault{
				Endpoint: "claim", Action: fault.ActionRewrite, Count: int(1 + a%4),
				Fields: field("owner_addr", pick(b, `"10.0.0.5"`, `"fd00::5"`, `"sandboxd.local:7777"`, `"0.0.0.0:7777"`, `"[::]:7777"`, `""`, `null`)),
			})
		}},
		{"a claim has no deadline", 3, func(w *World, a, _ uint32) {
			w.addFault(fault.Fault{
				Endpoint: "claim", Action: fault.ActionRewrite, Count: int(1 + a%4), Fields: field("deadline", "null"),
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
