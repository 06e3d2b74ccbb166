// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var (
	seed   = flag.Uint64("seed", 0, "seed of the first world; 0 draws one. It repeats the choices, not the machine's timing")
	rounds = flag.Int("rounds", 100, "how often a daemon is killed, over all worlds")
	worlds = flag.Int("worlds", 4, "how many worlds run side by side")
	binary = flag.String("binary", "", "the vk-sandbox to test; empty builds it")
)

// buildTimeout is long enough for a build without any cache.
const buildTimeout = 10 * time.Minute

// TestKilledDaemon runs worlds side by side.
func TestKilledDaemon(t *testing.T) {
	if *worlds < 1 || *rounds < *worlds {
		t.Fatalf("-rounds=%d -worlds=%d: every world needs a round", *rounds, *worlds)
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	daemon := program(t)
	// t.Parallel would limit the worlds to the number of processors, but a world mostly
	// waits.
	var all sync.WaitGroup
	for i := range *worlds {
		s := first + uint64(i)
		share := (*rounds + i) / *worlds
		all.Go(func() {
			t.Run(fmt.Sprintf("seed=%d", s), func(t *testing.T) {
				t.Logf("repeat: go test ./test/crash -seed=%d -rounds=%d -worlds=1", s, share)
				run(t, daemon, s, share)
			})
		})
	}
	all.Wait()
}

// run plays one world.
func run(t *testing.T, program string, seed uint64, rounds int) {
	started := time.Now()
	w := newWorld(t, program, seed)
	stop := w.load()
	defer stop()
	// One process runs long enough for the slow loops.
	long := w.rng.IntN(rounds)
	for i := range rounds {
		m := newKillPoint(w.rng)
		switch {
		case i == long:
			m = lateKillPoint(w.rng)
			w.restartSandboxd(between(w.rng, 5*time.Second, 8*time.Second))
		case w.rng.IntN(6) == 0:
			w.restartSandboxd(between(w.rng, 100*time.Millisecond, time.Second))
		}
		w.round(m)
		if found := w.checker.violations(); len(found) > 0 {
			w.report(fmt.Sprintf("round %d of %d, killed %v", i+1, rounds, m), found)
			return
		}
		time.Sleep(between(w.rng, 0, 40*time.Millisecond)) // the users continue without a daemon
	}
	stop()
	w.t.Logf("killed %d times in %v", rounds, time.Since(started).Round(time.Second))
	if found := w.checkRecovery(); len(found) > 0 {
		w.report("at the end", found)
	}
	w.summary(rounds)
}

// program returns the path of the given binary, or builds one with the release flags.
func program(t *testing.T) string {
	t.Helper()
	if *binary != "" {
		return *binary
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	defer cancel()
	built := filepath.Join(t.TempDir(), "vk-sandbox")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", built, "github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the daemon: %v\n%s", err, out)
	}
	return built
}

// between draws a duration from a range.
func between(rng *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(rng.Int64N(int64(to-from)+1))
}
