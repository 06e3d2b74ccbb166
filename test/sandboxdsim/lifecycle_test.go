// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"testing"
	"time"
)

func TestTheReaperDestroysAtTheDeadline(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		c := b.claim(claimBody("a/b"))
		time.Sleep(DefaultTTL - 1)
		if reaped, err := b.Reap(); err != nil || len(reaped) != 0 {
			b.Fatalf("reaped %v before the deadline, %v", reaped, err)
		}
		time.Sleep(time.Nanosecond)
		if reaped, err := b.Reap(); err != nil || len(reaped) != 1 || reaped[0] != c.ID {
			b.Fatalf("reaped %v at the deadline, %v", reaped, err)
		}
		b.wantHistory(c.ID, "made claimed answered reaped")
		b.want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
		if by := b.Truth(EventFilter{}).Counters.DestroyedBy[ByReaper]; by != 1 {
			b.Errorf("%d destroyed by the reaper", by)
		}
	})
}

func TestHibernationKeepsTheLeaseRunning(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		c := b.claim(claimBody("a/b"))
		path := "/v1/sandboxes/" + c.ID
		b.want(200, "POST", path+"/hibernate", c.Token, "")
		b.want(200, "POST", path+"/hibernate", c.Token, "")
		if r := b.list("").Sandboxes[0]; !r.Hibernated || r.Archived || !r.Deadline.Equal(c.Deadline) {
			b.Errorf("hibernated: %+v", r)
		}
		b.want(200, "POST", path+"/wake", c.Token, "")
		if r := b.list("").Sandboxes[0]; r.Hibernated || !r.Deadline.Equal(c.Deadline) {
			b.Errorf("woken: %+v", r)
		}
		b.want(200, "POST", path+"/hibernate", rootToken, "")
		b.wantHistory(c.ID, "made claimed answered hibernated woken hibernated")
		time.Sleep(DefaultTTL)
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
			cfg := testConfig()
			cfg.ArchiveAfter, cfg.ArchiveRetention = 5*time.Minute, tc.retention
			inBubble(t, cfg, func(b bench) {
				c := b.claim(`{"template":"` + image + `","ttl_seconds":3600}`)
				b.do(b.Hibernate(c.ID))
				time.Sleep(5*time.Minute - 1)
				b.step()
				if r := b.list("").Sandboxes[0]; r.Archived {
					b.Fatal("archived too early")
				}
				time.Sleep(time.Nanosecond)
				b.step()
				r := b.list("").Sandboxes[0]
				if !r.Archived || !r.Hibernated || time.Until(r.Deadline) != tc.retention {
					b.Fatalf("archived: %+v", r)
				}
				b.want(409, "POST", "/v1/sandboxes/"+c.ID+"/renew", c.Token, "")
				time.Sleep(time.Minute)
				b.want(200, "POST", "/v1/sandboxes/"+c.ID+"/wake", c.Token, "")
				r = b.list("").Sandboxes[0]
				if r.Archived || r.Hibernated || time.Until(r.Deadline) != tc.ttl {
					b.Errorf("woken: %+v, lease %v, want %v", r, time.Until(r.Deadline), tc.ttl)
				}
				b.do(b.Archive(c.ID))
				time.Sleep(tc.retention)
				b.step()
				b.wantHistory(c.ID, "made claimed answered hibernated archived woken archived reaped")
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
		"to the default": {``, 200, DefaultTTL},
		"later":          {`{"ttl_seconds":7200}`, 200, 2 * time.Hour},
		"earlier":        {`{"ttl_seconds":1}`, 200, time.Second},
		"capped":         {`{"ttl_seconds":100000}`, 200, MaxTTL},
		"negative":       {`{"ttl_seconds":-1}`, 400, 4 * time.Minute},
		"not JSON":       {`x`, 400, 4 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, testConfig(), func(b bench) {
				c := b.claim(claimBody("a/b"))
				time.Sleep(time.Minute)
				b.want(tc.status, "POST", "/v1/sandboxes/"+c.ID+"/renew", c.Token, tc.body)
				if got := time.Until(b.list("").Sandboxes[0].Deadline); got != tc.want {
					b.Errorf("lease %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestForcedTransitions(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		moved, expired, lost := b.claim(claimBody("a/1")), b.claim(claimBody("a/2")), b.claim(claimBody("a/3"))
		later := time.Now().Add(6 * time.Hour)
		b.do(b.MoveLease(moved.ID, later))
		b.do(b.Expire(expired.ID))
		b.do(b.Lose(lost.ID))
		b.wantHistory(moved.ID, "made claimed answered lease-moved")
		b.wantHistory(expired.ID, "made claimed answered reaped")
		b.wantHistory(lost.ID, "made claimed answered lost")
		if rows := b.list("").Sandboxes; len(rows) != 1 || !rows[0].Deadline.Equal(later) {
			b.Errorf("rows %+v", rows)
		}
		b.do(b.MoveLease(moved.ID, time.Now()))
		b.step()
		if c := b.Truth(EventFilter{}).Counters; c.DestroyedBy[ByReaper] != 2 || c.DestroyedBy[ByControl] != 1 || c.Destroyed != 3 {
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

func (b bench) step() {
	b.Helper()
	if _, err := b.Reap(); err != nil {
		b.Fatal(err)
	}
}
