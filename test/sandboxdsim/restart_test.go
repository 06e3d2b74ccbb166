// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// reopen is a restart of the process.
func reopen(b simtest.Sim, cfg config.Config) simtest.Sim {
	b.Helper()
	b.Must(b.Close())
	return simtest.Start(b.T, cfg)
}

func TestRestartKeepsVMs(t *testing.T) {
	for name, restart := range map[string]func(simtest.Sim, config.Config) simtest.Sim{
		"of the daemon": func(b simtest.Sim, _ config.Config) simtest.Sim {
			b.Must(b.Restart(sandboxdsim.RestartOptions{}))
			return b
		},
		"of the process": reopen,
	} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			cfg.StateDir = t.TempDir()
			b := simtest.Start(t, cfg)
			kept, gone := b.Claim(simtest.ClaimBody("a/kept")), b.Claim(simtest.ClaimBody("a/gone"))
			b.Must(b.Archive(kept.ID))
			b.Want(204, "POST", "/v1/sandboxes/"+gone.ID+"/release", gone.Token, "")
			b.Must(b.SetCapacity(host.Capacity{Pools: []host.PoolCapacity{{Key: simtest.Key(), Target: ptr.To(5), Warm: ptr.To(1)}}}))
			before, list := b.History(history.Filter{}), b.List("")
			b = restart(b, cfg)
			if i := b.Info(); i.Pools[0].Warm != 1 {
				t.Errorf("info %+v", i)
			}
			if got := b.List(""); len(got.Sandboxes) != 1 || got.Sandboxes[0] != list.Sandboxes[0] {
				t.Errorf("list %+v, want %+v", got, list)
			}
			after := b.History(history.Filter{})
			if after.Counters.Made != before.Counters.Made || after.Counters.Claimed != before.Counters.Claimed {
				t.Errorf("counters %+v, before %+v", after.Counters, before.Counters)
			}
			for i, e := range after.Events {
				if e.Seq != int64(i)+1 {
					t.Fatalf("event %d has number %d", i, e.Seq)
				}
			}
			c := b.Claim(simtest.ClaimBody("a/new"))
			b.WantHistory(c.ID, "made claimed answered")
			b.Want(204, "POST", "/v1/sandboxes/"+kept.ID+"/wake", kept.Token, "")
		})
	}
}

func TestRestartLiftsTheDrain(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.Want(204, "POST", "/v1/drain", simtest.RootToken, "")
	b.Must(b.Restart(sandboxdsim.RestartOptions{}))
	if i := b.Info(); i.Draining || i.Pools[0].Warm != 0 {
		t.Errorf("info %+v", i)
	}
	b.Claim(simtest.ClaimBody("a/b"))
}

func TestCrashBetweenKeepingAndAnswering(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionRestart, Point: fault.PointResponse, Count: 1})
	if _, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Fatalf("error %v, want EOF", err)
	}
	r := b.List("?claim_ref=a/b").Sandboxes
	if len(r) != 1 {
		t.Fatalf("%d rows after the crash, want 1", len(r))
	}
	b.WantHistory(r[0].ID, "made claimed answer-lost")
}

func TestCrashWhileProvisioning(t *testing.T) {
	cfg := simtest.Config()
	cfg.Latency = config.Latency{config.WarmHit: {Min: time.Second, Max: time.Second}}
	simtest.InBubble(t, cfg, func(b simtest.Sim) {
		failed := make(chan error)
		go func() {
			_, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
			failed <- err
		}()
		synctest.Wait()
		b.Must(b.Restart(sandboxdsim.RestartOptions{}))
		if err := <-failed; !errors.Is(err, io.EOF) {
			b.Errorf("error %v, want EOF", err)
		}
		if i := b.Info(); i.Claimed != 0 || i.Pools[0].Warm != 2 {
			b.Errorf("info %+v", i)
		}
	})
}

func TestDownTime(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		c := b.Claim(simtest.ClaimBody("a/b"))
		b.Must(b.Restart(sandboxdsim.RestartOptions{Down: metav1.Duration{Duration: time.Minute}, Rebuild: fault.Rebuild{For: metav1.Duration{Duration: time.Minute}, Index: fault.IndexUnavailable}}))
		b.AddFault(fault.Fault{Endpoint: "healthz", Action: fault.ActionStatus, Status: 500, Count: 1})
		time.Sleep(time.Minute - 1)
		if _, err := b.Try("GET", "/healthz", "", ""); !errors.Is(err, io.EOF) {
			b.Errorf("error %v, want EOF", err)
		}
		if err := b.Hibernate(c.ID); err == nil {
			b.Error("a daemon that is down hibernated a sandbox")
		}
		if len(b.History(history.Filter{}).VMs) != 2 {
			b.Error("no history while the daemon is down")
		}
		time.Sleep(time.Nanosecond)
		b.Want(500, "GET", "/healthz", "", "")
		b.Want(200, "GET", "/healthz", "", "")
		b.Want(503, "GET", "/v1/sandboxes", simtest.RootToken, "")
		time.Sleep(time.Minute)
		if b.Refs() != "a/b" {
			b.Error("the index is not back")
		}
	})
}

func TestRebuild(t *testing.T) {
	for index, want := range map[fault.Index]string{fault.IndexPartial: "a/2", fault.IndexEmpty: ""} {
		t.Run(string(index), func(t *testing.T) {
			cfg := simtest.Config()
			cfg.StateDir = t.TempDir()
			cfg.Rebuild = fault.Rebuild{For: metav1.Duration{Duration: time.Minute}, Index: index}
			simtest.InBubble(t, cfg, func(b simtest.Sim) {
				b.Claim(simtest.ClaimBody("a/1"))
				b.Claim(simtest.ClaimBody("a/2"))
				if got := b.Refs(); got != "a/1 a/2" {
					b.Fatalf("%q listed by a node that never ran before", got)
				}
				b = reopen(b, cfg)
				if got := b.Refs(); got != want {
					b.Errorf("%q listed while the index is rebuilt, want %q", got, want)
				}
				time.Sleep(time.Minute)
				if got := b.Refs(); got != "a/1 a/2" {
					b.Errorf("%q listed afterwards", got)
				}
			})
		})
	}
}
