// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

const (
	template  = "ghcr.io/cocoonstack/sandbox/rt:24.04"
	rootToken = "CANARY-root-7f3a91"
)

// world is one host with its sandboxd, its disk and its API server.
type world struct {
	t        *testing.T
	program  string
	dir      string
	table    string
	rng      *rand.Rand
	sandboxd *sandboxdsim.Server
	api      *kubeapi.Server
	checker  *checker

	registered atomic.Pointer[func()]
	processes  []*process // the last two
}

func newWorld(t *testing.T, program string, seed uint64) *world {
	t.Helper()
	w := &world{t: t, program: program, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 1))}
	w.table = filepath.Join(w.dir, "state", "claims.json")
	w.must(writeToken(w.tokenFile()))
	var err error
	w.sandboxd, err = sandboxdsim.New(config.Config{
		RootToken: rootToken,
		Pools:     []config.Pool{{Key: config.Key{Template: template}, Target: 8}},
		Latency:   config.RealLatency(),
		Rand:      rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}),
	})
	w.must(err)
	go w.sandboxd.Run(t.Context())
	for _, f := range faults() {
		f.Seed = w.rng.Uint64()
		_, err := w.sandboxd.Faults.Add(f)
		w.must(err)
	}
	w.checker = newChecker(w.sandboxd, w.table)
	w.api = kubeapi.New(kubeapi.Config{
		Observe:    w.checker.observe,
		Inspect:    w.checker.inspect,
		Registered: func() { (*w.registered.Load())() },
	})
	t.Cleanup(func() {
		for _, l := range w.processes {
			l.kill()
		}
		w.must(w.sandboxd.Close())
	})
	return w
}

// faults occur at random while the users are active.
func faults() []fault.Fault {
	return []fault.Fault{
		{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse, Probability: 0.03},
		{Endpoint: "claim", Action: fault.ActionStatus, Status: 500, Probability: 0.03},
		{Endpoint: "release", Action: fault.ActionDrop, Point: fault.PointResponse, Probability: 0.05},
		{Endpoint: "release", Action: fault.ActionStatus, Status: 500, Probability: 0.05},
		{Endpoint: "list", Action: fault.ActionStatus, Status: 503, Probability: 0.25},
	}
}

// round starts the daemon, kills it and checks the state that it left.
func (w *world) round(m killPoint) {
	l := w.start()
	stop := w.audit()
	err := l.wait(m)
	l.kill()
	stop()
	if err != nil {
		w.checker.add("%v (%v)", err, l.cmd.ProcessState)
	}
	w.checker.output(l.output.String())
	w.checker.checkAfterKill()
}

// audit checks the file continuously until it is stopped.
func (w *world) audit() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			w.checker.audit()
			select {
			case <-quit:
				return
			case <-time.After(3 * time.Millisecond):
			}
		}
	}()
	return func() { close(quit); <-done }
}

// restartSandboxd kills sandboxd, which then takes a while to rebuild its index.
func (w *world) restartSandboxd(rebuild time.Duration) {
	indexes := []fault.Index{fault.IndexUnavailable, fault.IndexPartial, fault.IndexEmpty}
	w.must(w.sandboxd.Restart(sandboxdsim.RestartOptions{Rebuild: fault.Rebuild{
		For: metav1.Duration{Duration: rebuild}, Index: indexes[w.rng.IntN(len(indexes))],
	}}))
}

// report fails the test with the violations, the daemon's log and the claims file.
func (w *world) report(when string, found []string) {
	w.t.Helper()
	var log strings.Builder
	for i, l := range w.processes {
		lines := strings.Split(strings.TrimSpace(l.output.String()), "\n")
		fmt.Fprintf(&log, "\n--- the last lines of process %d of the last %d:\n%s", i+1, len(w.processes), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	file, err := os.ReadFile(w.table)
	w.t.Errorf("%s:\n%s\n--- claims file (%v):\n%s%s", when, strings.Join(found, "\n"), err, redact(file), redact([]byte(log.String())))
}

func (w *world) summary(rounds int) {
	w.t.Helper()
	s, n := w.checker.summary(), w.sandboxd.History(history.Filter{After: 1 << 62}).Counters
	w.t.Logf("%d kills: %d VMs claimed, %d shown on Pods, %d released, %d lost answers, %d of them with a kill",
		rounds, n.Claimed, s.shown, s.released, n.AnswersLost+s.lost, s.lost)
	if s.shown == 0 || s.released == 0 {
		w.t.Error("the users did nothing: no VM was shown, or none released")
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
