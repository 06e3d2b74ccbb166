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

// world is one host with its sandboxd, its disk and the API server it sees.
type world struct {
	t        *testing.T
	program  string
	dir      string
	table    string
	rng      *rand.Rand
	sandboxd *sandboxdsim.Server
	api      *kubeapi.Server
	judge    *judge

	registered atomic.Pointer[func()]
	lives      []*life // the last two
}

func newWorld(t *testing.T, program string, seed uint64) *world {
	t.Helper()
	w := &world{t: t, program: program, dir: t.TempDir(), rng: rand.New(rand.NewPCG(seed, 1))}
	w.table = filepath.Join(w.dir, "state", "claims.json")
	w.do(writeToken(w.tokenFile()))
	var err error
	w.sandboxd, err = sandboxdsim.New(config.Config{
		RootToken: rootToken,
		Pools:     []config.Pool{{Key: config.Key{Template: template}, Target: 8}},
		Latency:   config.RealLatency(),
		Rand:      rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}),
	})
	w.do(err)
	go w.sandboxd.Run(t.Context())
	for _, f := range faults() {
		f.Seed = w.rng.Uint64()
		_, err := w.sandboxd.Faults.Add(f)
		w.do(err)
	}
	w.judge = newJudge(w.sandboxd, w.table)
	w.api = kubeapi.New(kubeapi.Config{
		Observe:    w.judge.observe,
		Inspect:    w.judge.inspect,
		Registered: func() { (*w.registered.Load())() },
	})
	t.Cleanup(func() {
		for _, l := range w.lives {
			l.kill()
		}
		w.do(w.sandboxd.Close())
	})
	return w
}

// faults happen now and then for as long as the users are at work.
func faults() []fault.Fault {
	return []fault.Fault{
		{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse, Probability: 0.03},
		{Endpoint: "claim", Action: fault.ActionStatus, Status: 500, Probability: 0.03},
		{Endpoint: "release", Action: fault.ActionDrop, Point: fault.PointResponse, Probability: 0.05},
		{Endpoint: "release", Action: fault.ActionStatus, Status: 500, Probability: 0.05},
		{Endpoint: "list", Action: fault.ActionStatus, Status: 503, Probability: 0.25},
	}
}

// round is one life of the daemon, from start to kill, and what is left.
func (w *world) round(m moment) {
	l := w.start()
	stop := w.audit()
	err := l.wait(m)
	l.kill()
	stop()
	if err != nil {
		w.judge.violate("%v (%v)", err, l.cmd.ProcessState)
	}
	w.judge.output(l.output.String())
	w.judge.afterKill()
}

// audit looks at the file all the time until it is stopped.
func (w *world) audit() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			w.judge.audit()
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
	w.do(w.sandboxd.Restart(sandboxdsim.RestartOptions{Rebuild: fault.Rebuild{
		For: metav1.Duration{Duration: rebuild}, Index: indexes[w.rng.IntN(len(indexes))],
	}}))
}

// report fails the test with what was found and what the daemon said about it.
func (w *world) report(when string, found []string) {
	w.t.Helper()
	var log strings.Builder
	for i, l := range w.lives {
		lines := strings.Split(strings.TrimSpace(l.output.String()), "\n")
		fmt.Fprintf(&log, "\n--- the last lines of life %d of the last %d:\n%s", i+1, len(w.lives), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	file, err := os.ReadFile(w.table)
	w.t.Errorf("%s:\n%s\n--- claims file (%v):\n%s%s", when, strings.Join(found, "\n"), err, redact(file), redact([]byte(log.String())))
}

func (w *world) summary(rounds int) {
	w.t.Helper()
	s, n := w.judge.summary(), w.sandboxd.History(history.Filter{After: 1 << 62}).Counters
	w.t.Logf("%d kills: %d VMs claimed, %d shown on Pods, %d released, %d lost answers, %d of them with a kill",
		rounds, n.Claimed, s.shown, s.released, n.AnswersLost+s.lost, s.lost)
	if s.shown == 0 || s.released == 0 {
		w.t.Error("the users did nothing: no VM was shown, or none released")
	}
}

func (w *world) do(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}
