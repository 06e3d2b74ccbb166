// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// moment is when a daemon is killed: a while after it has come so far.
type moment struct {
	after milestone
	// asked is how many claims and releases it has asked for, for afterAsking.
	asked int
	then  time.Duration
}

// milestone is how far a daemon has come.
type milestone string

const (
	afterStart  milestone = "the start"
	afterReady  milestone = "being ready"
	afterAsking milestone = "asking sandboxd"
)

func (m moment) String() string {
	if m.after == afterAsking {
		return fmt.Sprintf("%v after claim or release %d", m.then, m.asked)
	}
	return fmt.Sprintf("%v after %s", m.then, m.after)
}

func newMoment(rng *rand.Rand) moment {
	switch n := rng.IntN(10); {
	case n < 3:
		return moment{after: afterStart, then: between(rng, 0, 200*time.Millisecond)}
	case n < 6:
		// The moments between an answer and its row are few: look for them.
		return moment{after: afterAsking, asked: 1 + rng.IntN(40), then: between(rng, 0, 3*time.Millisecond)}
	default:
		return moment{after: afterReady, then: between(rng, 5*time.Millisecond, 300*time.Millisecond)}
	}
}

// longMoment leaves time for the owner re-check, whose first look at a claim
// comes after 10 seconds, and for some of its consequences.
func longMoment(rng *rand.Rand) moment {
	return moment{after: afterReady, then: between(rng, 12*time.Second, 20*time.Second)}
}
