// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// killPoint is when a daemon is killed: a time after it reaches a stage.
type killPoint struct {
	after stage
	// asked is the number of claims and releases before the kill, for afterAsking.
	asked int
	then  time.Duration
}

// stage is a stage of a daemon's start.
type stage string

const (
	afterStart  stage = "the start"
	afterReady  stage = "being ready"
	afterAsking stage = "asking sandboxd"
)

func (m killPoint) String() string {
	if m.after == afterAsking {
		return fmt.Sprintf("%v after claim or release %d", m.then, m.asked)
	}
	return fmt.Sprintf("%v after %s", m.then, m.after)
}

func newKillPoint(rng *rand.Rand) killPoint {
	switch n := rng.IntN(10); {
	case n < 3:
		return killPoint{after: afterStart, then: between(rng, 0, 200*time.Millisecond)}
	case n < 6:
		// The time between an answer and its row is short, so aim for it.
		return killPoint{after: afterAsking, asked: 1 + rng.IntN(40), then: between(rng, 0, 3*time.Millisecond)}
	default:
		return killPoint{after: afterReady, then: between(rng, 5*time.Millisecond, 300*time.Millisecond)}
	}
}

// lateKillPoint leaves time for the owner re-check, which first reads an owner after 10
// seconds, and for the releases that follow.
func lateKillPoint(rng *rand.Rand) killPoint {
	return killPoint{after: afterReady, then: between(rng, 12*time.Second, 20*time.Second)}
}
