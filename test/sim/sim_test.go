// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var (
	seed      = flag.Uint64("seed", 0, "replay the one history of this seed; 0 runs -histories of them")
	histories = flag.Int("histories", 2000, "how many histories to run")
	length    = flag.Int("steps", 100, "how many steps a history has")
	first     = flag.Uint64("first", 1, "the first seed")
	without   = flag.String("without", "", "the steps to leave out, separated by commas")
)

// TestHistories plays random histories and checks the rules after every step.
// A failure reports its seed for a replay, and a minimal list of steps that still
// fails.
func TestHistories(t *testing.T) { playAll(t, NewHistory, *histories) }

// TestReplicaHistories plays histories that also have Pods with random names, whose claims
// no other Pod can adopt. They have a deck of their own, so that the seeds of
// TestHistories stay what they are.
func TestReplicaHistories(t *testing.T) { playAll(t, NewReplicaHistory, max(1, *histories/4)) }

func playAll(t *testing.T, history func(seed uint64, n int) []Step, histories int) {
	t.Helper()
	seeds := []uint64{*seed}
	if *seed == 0 {
		seeds = seeds[:0]
		for i := range histories {
			seeds = append(seeds, *first+uint64(i))
		}
	}
	t.Logf("seeds %d to %d, %d steps each", seeds[0], seeds[len(seeds)-1], *length)
	const lanes = 4
	for lane := range lanes {
		t.Run(fmt.Sprintf("lane %d", lane), func(t *testing.T) {
			t.Parallel()
			for i := lane; i < len(seeds) && !t.Failed(); i += lanes {
				steps := leaveOut(history(seeds[i], *length), *without)
				if o := Play(t, seeds[i], steps); len(o.Violations) > 0 {
					report(t, seeds[i], steps, o)
				}
			}
		})
	}
}

func leaveOut(steps []Step, names string) []Step {
	return slices.DeleteFunc(steps, func(s Step) bool { return slices.Contains(strings.Split(names, ","), s.Do) })
}

func report(t *testing.T, seed uint64, steps []Step, o Outcome) {
	t.Helper()
	steps, o = minimize(t, seed, steps, o)
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&b, "\n  %v,", s)
	}
	test, _, _ := strings.Cut(t.Name(), "/")
	t.Errorf("seed %d (replay: go test ./test/sim -run '^%s$' -seed=%d -steps=%d -without=%q)\n%s\nsteps:%s\nlog:\n%s",
		seed, test, seed, *length, *without, strings.Join(o.Violations, "\n"), b.String(), tail(o.Log, 400))
}

// minimize removes steps while a violation remains.
func minimize(t *testing.T, seed uint64, steps []Step, o Outcome) ([]Step, Outcome) {
	if o.Step < len(steps) {
		steps = steps[:o.Step+1]
	}
	for chunk := max(len(steps)/2, 1); chunk > 0; chunk /= 2 {
		for from := 0; from+chunk <= len(steps); {
			fewer := slices.Concat(steps[:from], steps[from+chunk:])
			if again := Play(t, seed, fewer); len(again.Violations) > 0 {
				steps, o = fewer, again
			} else {
				from += chunk
			}
		}
	}
	return steps, o
}

// tail returns the last lines of a log without request and response bodies.
func tail(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
		return strings.Contains(line, `level=DEBUG-`)
	})
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
