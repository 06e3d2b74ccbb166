// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestManyClientsUnderFaults claims and releases from many goroutines, with lost answers and restarts, and then
// compares what the clients know with the truth.
func TestManyClientsUnderFaults(t *testing.T) {
	cfg := testConfig()
	cfg.Latency = RealLatency()
	inBubble(t, cfg, func(b bench) {
		ctx, stop := context.WithCancel(b.Context())
		go b.Server.Run(ctx)
		b.fault(Fault{Action: ActionDrop, Point: PointResponse, Probability: 0.1, Seed: 1})
		b.fault(Fault{Endpoint: "claim", Action: ActionStatus, Status: 500, Probability: 0.1, Seed: 2})
		b.fault(Fault{Endpoint: "claim", Action: ActionRestart, Point: PointResponse, Probability: 0.02, Seed: 3})
		var mu sync.Mutex
		known, released := map[string]string{}, map[string]bool{}
		var clients sync.WaitGroup
		for n := range 8 {
			clients.Go(func() {
				dice := rand.New(rand.NewPCG(uint64(n), 0))
				for range 50 {
					a, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b"))
					if err != nil || a.status != 200 {
						continue
					}
					c := decodeAs[claimed](b, a.body)
					mu.Lock()
					known[c.ID] = c.Token
					mu.Unlock()
					if dice.IntN(2) == 0 {
						continue
					}
					if a, err := b.try("POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, ""); err == nil && a.status == 204 {
						mu.Lock()
						released[c.ID] = true
						mu.Unlock()
					}
				}
			})
		}
		clients.Wait()
		stop()
		b.ClearFaults()
		truth := b.Truth(EventFilter{})
		n := truth.Counters
		if n.Claimed != n.Answered+n.AnswersLost || n.Answered != len(known) || n.AnswersLost == 0 {
			b.Errorf("counters %+v; clients got %d answers", n, len(known))
		}
		if n.Made-n.Destroyed != len(truth.VMs) || n.DestroyedBy[BySandbox] < len(released) {
			b.Errorf("counters %+v; %d VMs live, %d releases answered", n, len(truth.VMs), len(released))
		}
		live := map[string]bool{}
		for _, v := range truth.VMs {
			live[v.ID] = true
		}
		for id := range released {
			if live[id] {
				b.Errorf("%s was released and lives", id)
			}
		}
		time.Sleep(MaxTTL)
		b.step()
		for _, v := range b.Truth(EventFilter{}).VMs {
			if v.State != StateWarm {
				b.Errorf("%s outlived its lease", v.ID)
			}
		}
	})
}
