// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// TestManyClientsUnderFaults claims and releases from many goroutines, with lost answers and restarts, and then
// compares what the clients know with the history.
func TestManyClientsUnderFaults(t *testing.T) {
	cfg := simtest.Config()
	cfg.Latency = config.RealLatency()
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		ctx, stop := context.WithCancel(b.Context())
		go b.Server.Run(ctx)
		b.AddFault(fault.Fault{Action: fault.ActionDrop, Point: fault.PointResponse, Probability: 0.1, Seed: 1})
		b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 500, Probability: 0.1, Seed: 2})
		b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionRestart, Point: fault.PointResponse, Probability: 0.02, Seed: 3})
		var mu sync.Mutex
		known, released := map[string]string{}, map[string]bool{}
		var clients sync.WaitGroup
		for n := range 8 {
			clients.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(n), 0))
				for range 50 {
					a, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
					if err != nil || a.Status != 200 {
						continue
					}
					c := simtest.Decode[simtest.Claimed](b, a.Body)
					mu.Lock()
					known[c.ID] = c.Token
					mu.Unlock()
					if dice.IntN(2) == 0 {
						continue
					}
					if a, err := b.Try("POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, ""); err == nil && a.Status == 204 {
						mu.Lock()
						released[c.ID] = true
						mu.Unlock()
					}
				}
			})
		}
		clients.Wait()
		stop()
		b.Faults.Clear()
		happened := b.History(history.Filter{})
		n := happened.Counters
		if n.Claimed != n.Answered+n.AnswersLost || n.Answered != len(known) || n.AnswersLost == 0 {
			b.Errorf("counters %+v; clients got %d answers", n, len(known))
		}
		if n.Made-n.Destroyed != len(happened.VMs) || n.DestroyedBy[history.BySandbox] < len(released) {
			b.Errorf("counters %+v; %d VMs live, %d releases answered", n, len(happened.VMs), len(released))
		}
		live := map[string]bool{}
		for _, v := range happened.VMs {
			live[v.ID] = true
		}
		for id := range released {
			if live[id] {
				b.Errorf("%s was released and lives", id)
			}
		}
		time.Sleep(config.MaxTTL)
		b.ReapNow()
		for _, v := range b.History(history.Filter{}).VMs {
			if v.State != history.StateWarm {
				b.Errorf("%s outlived its lease", v.ID)
			}
		}
	})
}
