// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestTheReaperDestroysAtTheDeadline(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		c := b.Claim(simtest.ClaimBody("a/b"))
		time.Sleep(config.DefaultTTL - 1)
		if reaped, err := b.Reap(); err != nil || len(reaped) != 0 {
			b.Fatalf("reaped %v before the deadline, %v", reaped, err)
		}
		time.Sleep(time.Nanosecond)
		if reaped, err := b.Reap(); err != nil || len(reaped) != 1 || reaped[0] != c.ID {
			b.Fatalf("reaped %v at the deadline, %v", reaped, err)
		}
		b.WantHistory(c.ID, "made claimed answered reaped")
		b.Want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
		if by := b.History(history.Filter{}).Counters.DestroyedBy[history.ByReaper]; by != 1 {
			b.Errorf("%d destroyed by the reaper", by)
		}
	})
}

func TestHibernationKeepsTheLeaseRunning(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		c := b.Claim(simtest.ClaimBody("a/b"))
		path := "/v1/sandboxes/" + c.ID
		b.Want(204, "POST", path+"/hibernate", c.Token, "")
		b.Want(204, "POST", path+"/hibernate", c.Token, "")
		if r := b.List("").Sandboxes[0]; !r.Hibernated || r.Archived || !r.Deadline.Equal(c.Deadline) {
			b.Errorf("hibernated: %+v", r)
		}
		b.Want(204, "POST", path+"/wake", c.Token, "")
		if r := b.List("").Sandboxes[0]; r.Hibernated || !r.Deadline.Equal(c.Deadline) {
			b.Errorf("woken: %+v", r)
		}
		b.Want(204, "POST", path+"/hibernate", simtest.RootToken, "")
		b.WantHistory(c.ID, "made claimed answered hibernated woken hibernated")
		time.Sleep(config.DefaultTTL)
		if reaped, err := b.Reap(); err != nil || len(reaped) != 1 {
			b.Errorf("reaped %v, %v", reaped, err)
		}
	})
}

func TestArchivingRewritesTheLeaseBothWays(t *testing.T) {
	for name, tc := range map[string]struct{ ttl, retention time.Duration }{
		"retention is longer":  {time.Hour, 7 * 24 * time.Hour},
		"retention is shorter": {time.Hour, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := simtest.Config()
			cfg.ArchiveAfter, cfg.ArchiveRetention = 5*time.Minute, tc.retention
			simtest.InBubble(t, cfg, func(b simtest.Sim) {
				c := b.Claim(`{"template":"` + simtest.Image + `","ttl_seconds":3600}`)
				b.Must(b.Hibernate(c.ID))
				time.Sleep(5*time.Minute - 1)
				b.ReapNow()
				if r := b.List("").Sandboxes[0]; r.Archived {
					b.Fatal("archived too early")
				}
				time.Sleep(time.Nanosecond)
				b.ReapNow()
				r := b.List("").Sandboxes[0]
				if !r.Archived || !r.Hibernated || time.Until(r.Deadline) != tc.retention {
					b.Fatalf("archived: %+v", r)
				}
				b.Want(409, "POST", "/v1/sandboxes/"+c.ID+"/renew", c.Token, "")
				time.Sleep(time.Minute)
				b.Want(204, "POST", "/v1/sandboxes/"+c.ID+"/wake", c.Token, "")
				r = b.List("").Sandboxes[0]
				if r.Archived || r.Hibernated || time.Until(r.Deadline) != tc.ttl {
					b.Errorf("woken: %+v, lease %v, want %v", r, time.Until(r.Deadline), tc.ttl)
				}
				b.Must(b.Archive(c.ID))
				time.Sleep(tc.retention)
				b.ReapNow()
				b.WantHistory(c.ID, "made claimed answered hibernated archived woken archived reaped")
			})
		})
	}
}

func TestRenewMovesTheLease(t *testing.T) {
	for name, tc := range map[string]struct {
		body   string
		status int
		want   time.Duration
	}{
		"to the default": {``, 200, config.DefaultTTL},
		"later":          {`{"ttl_seconds":7200}`, 200, 2 * time.Hour},
		"earlier":        {`{"ttl_seconds":1}`, 200, time.Second},
		"capped":         {`{"ttl_seconds":100000}`, 200, config.MaxTTL},
		"negative":       {`{"ttl_seconds":-1}`, 400, 4 * time.Minute},
		"not JSON":       {`x`, 400, 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
				c := b.Claim(simtest.ClaimBody("a/b"))
				time.Sleep(time.Minute)
				granted := b.Want(tc.status, "POST", "/v1/sandboxes/"+c.ID+"/renew", c.Token, tc.body)
				if want := `"deadline":"` + b.List("").Sandboxes[0].Deadline.Format(time.RFC3339Nano); tc.status == 200 && !strings.Contains(string(granted.Body), want) {
					b.Errorf("answer %s, want %s in it", granted.Body, want)
				}
				if got := time.Until(b.List("").Sandboxes[0].Deadline); got != tc.want {
					b.Errorf("lease %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestNoHibernationOnAnEgressLane(t *testing.T) {
	cfg := simtest.Config()
	cfg.Pools = append(cfg.Pools, config.Pool{Key: config.Key{Template: simtest.Image, Net: "lane-1", Size: config.DefaultSize}})
	b := simtest.Start(t, cfg)
	c := b.Claim(`{"template":"` + simtest.Image + `","net":"lane-1"}`)
	b.Want(409, "POST", "/v1/sandboxes/"+c.ID+"/hibernate", c.Token, "")
	if b.List("").Sandboxes[0].Hibernated {
		t.Error("it is hibernated")
	}
}

func TestForcedTransitions(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		moved, expired, lost := b.Claim(simtest.ClaimBody("a/1")), b.Claim(simtest.ClaimBody("a/2")), b.Claim(simtest.ClaimBody("a/3"))
		later := time.Now().Add(6 * time.Hour)
		b.Must(b.MoveLease(moved.ID, later))
		b.Must(b.Expire(expired.ID))
		b.Must(b.Lose(lost.ID))
		b.WantHistory(moved.ID, "made claimed answered lease-moved")
		b.WantHistory(expired.ID, "made claimed answered reaped")
		b.WantHistory(lost.ID, "made claimed answered lost")
		if rows := b.List("").Sandboxes; len(rows) != 1 || !rows[0].Deadline.Equal(later) {
			b.Errorf("rows %+v", rows)
		}
		b.Must(b.MoveLease(moved.ID, time.Now()))
		b.ReapNow()
		if c := b.History(history.Filter{}).Counters; c.DestroyedBy[history.ByReaper] != 2 || c.DestroyedBy[history.ByControl] != 1 || c.Destroyed != 3 {
			b.Errorf("counters %+v", c)
		}
		for name, force := range map[string]func(string) error{
			"hibernate": b.Hibernate, "archive": b.Archive, "wake": b.Wake, "expire": b.Expire, "lose": b.Lose,
		} {
			if force(lost.ID) == nil {
				b.Errorf("%s: a lost sandbox took it", name)
			}
		}
	})
}
