// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import "time"

// Provision is the way a claim got its VM.
type Provision string

// The ways a VM is had, from the fastest to the slowest.
const (
	WarmHit  Provision = "warm-hit"
	Clone    Provision = "clone"
	ColdBoot Provision = "cold-boot"
)

// Range is a span of durations; a value is drawn evenly from it.
type Range struct{ Min, Max time.Duration }

// Latency is how long each way of provisioning takes.
type Latency map[Provision]Range

// RealLatency returns the latencies the sandboxd API gives for the real daemon.
func RealLatency() Latency {
	return Latency{
		WarmHit:  {200 * time.Microsecond, 700 * time.Microsecond},
		Clone:    {26 * time.Millisecond, 39 * time.Millisecond},
		ColdBoot: {215 * time.Millisecond, 400 * time.Millisecond},
	}
}
