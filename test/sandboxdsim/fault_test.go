// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatusFault(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionStatus, Status: 500, RetryAfter: Duration(30 * time.Second), Count: 2})
	for range 2 {
		a := b.want(500, "POST", "/v1/claim", rootToken, claimBody("a/b"))
		if a.header.Get("Retry-After") != "30" || !strings.Contains(string(a.body), "Internal Server Error") {
			t.Errorf("Retry-After %q, body %s", a.header.Get("Retry-After"), a.body)
		}
		b.list("")
	}
	b.claim(claimBody("a/b"))
	if c := b.Truth(EventFilter{}).Counters; c.Claimed != 1 {
		t.Errorf("%d claims made", c.Claimed)
	}
}

func TestStatusFaultAfterTheFact(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionStatus, Point: PointResponse, Status: 502, Message: "gone"})
	if a := b.want(502, "POST", "/v1/claim", rootToken, claimBody("a/b")); string(a.body) != `{"error":"gone"}` {
		t.Errorf("body %s", a.body)
	}
	b.wantHistory(b.list("").Sandboxes[0].ID, "made claimed answer-lost")
}

func TestLostAnswer(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionDrop, Point: PointResponse, Count: 1})
	if _, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Fatalf("error %v, want EOF", err)
	}
	r := b.list("?claim_ref=a/b").Sandboxes[0]
	b.wantHistory(r.ID, "made claimed answer-lost")
	if c := b.Truth(EventFilter{}).Counters; c.Claimed != 1 || c.AnswersLost != 1 || c.Answered != 0 {
		t.Errorf("counters %+v", c)
	}
	if log := b.Requests(RequestFilter{Endpoint: "claim"}).Requests; len(log) != 1 || log[0].Status != 0 {
		t.Errorf("requests %+v", log)
	}
	b.fault(Fault{Endpoint: "release", Action: ActionDrop, Point: PointResponse})
	if _, err := b.try("POST", "/v1/sandboxes/"+r.ID+"/release", rootToken, ""); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
	b.wantHistory(r.ID, "made claimed answer-lost released")
}

func TestDropDoesNothing(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionDrop})
	if _, err := b.try("POST", "/v1/claim", rootToken, claimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
	if c := b.Truth(EventFilter{}).Counters; c.Claimed != 0 {
		t.Errorf("%d claims made", c.Claimed)
	}
}

func TestDelayOutlivesTheClient(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		b.fault(Fault{Endpoint: "claim", Action: ActionDelay, Delay: Duration(40 * time.Second)})
		ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/claim", strings.NewReader(claimBody("a/b")))
		b.do(err)
		if _, err := b.send(req, rootToken); !errors.Is(err, context.DeadlineExceeded) {
			b.Fatalf("error %v, want the deadline", err)
		}
		if b.ids() != "" {
			b.Error("claimed before the delay is over")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.wantHistory(b.list("").Sandboxes[0].ID, "made claimed answer-lost")
	})
}

func TestDelayThenAnswer(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		b.fault(Fault{Action: ActionDelay, Delay: Duration(time.Second)})
		b.fault(Fault{Action: ActionDelay, Delay: Duration(time.Second), Point: PointResponse})
		before := time.Now()
		b.claim(claimBody("a/b"))
		if took := time.Since(before); took != 2*time.Second {
			b.Errorf("took %v", took)
		}
		if log := b.Requests(RequestFilter{}).Requests; log[0].Took != Duration(2*time.Second) || !log[0].Time.Equal(before) {
			b.Errorf("log %+v", log)
		}
	})
}

func TestHang(t *testing.T) {
	for _, p := range []Point{PointRequest, PointResponse} {
		t.Run(string(p), func(t *testing.T) {
			inBubble(t, testConfig(), func(b bench) {
				b.fault(Fault{Endpoint: "claim", Action: ActionHang, Point: p})
				ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/claim", strings.NewReader(claimBody("a/b")))
				b.do(err)
				if _, err := b.send(req, rootToken); !errors.Is(err, context.DeadlineExceeded) {
					b.Errorf("error %v, want the deadline", err)
				}
				synctest.Wait()
				if c := b.Truth(EventFilter{}).Counters; (c.Claimed == 1) != (p == PointResponse) || c.AnswersLost != c.Claimed {
					b.Errorf("counters %+v", c)
				}
			})
		})
	}
}

func TestIndexFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault Fault
		want  string
	}{
		"refs":                 {Fault{Action: ActionOmit, ClaimRefs: []string{"a/2"}}, "a/1 a/3"},
		"oldest rows":          {Fault{Action: ActionOmit, Rows: 2}, "a/3"},
		"more rows than are":   {Fault{Action: ActionOmit, Rows: 9}, ""},
		"a fraction, round up": {Fault{Action: ActionOmit, Fraction: 0.5}, "a/3"},
		"empty":                {Fault{Action: ActionEmpty}, ""},
		"other endpoint":       {Fault{Action: ActionEmpty, Endpoint: "get"}, "a/1 a/2 a/3"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, testConfig())
			for _, ref := range []string{"a/1", "a/2", "a/3"} {
				b.claim(claimBody(ref))
			}
			b.fault(tc.fault)
			if got := b.ids(); got != tc.want {
				t.Errorf("listed %q, want %q", got, tc.want)
			}
			for _, v := range b.Truth(EventFilter{}).VMs {
				listed := slices.Contains(strings.Fields(tc.want), v.ClaimRef) && tc.fault.Endpoint == ""
				status := map[bool]int{true: 200, false: 404}[listed]
				b.want(status, "GET", "/v1/sandboxes/"+v.ID, rootToken, "")
			}
		})
	}
}

func TestFailedList(t *testing.T) {
	b := start(t, testConfig())
	b.claim(claimBody("a/b"))
	id := b.fault(Fault{Endpoint: "list", Action: ActionStatus, Status: 503})
	b.want(503, "GET", "/v1/sandboxes", rootToken, "")
	if !b.RemoveFault(id) || b.RemoveFault(id) {
		t.Error("a fault can be removed once")
	}
	b.fault(Fault{Endpoint: "list", Action: ActionTruncate})
	a := b.want(200, "GET", "/v1/sandboxes", rootToken, "")
	if json.Valid(a.body) {
		t.Errorf("body %s is whole", a.body)
	}
	b.ClearFaults()
	if b.ids() != "a/b" {
		t.Error("the list is not whole after the faults")
	}
	b.fault(Fault{Endpoint: "claim", Action: ActionTruncate})
	b.want(200, "POST", "/v1/claim", rootToken, claimBody("a/c"))
	b.wantHistory(b.list("?claim_ref=a/c").Sandboxes[0].ID, "made claimed answer-lost")
}

func TestRejectToken(t *testing.T) {
	b := start(t, testConfig())
	c := b.claim(claimBody("a/b"))
	b.fault(Fault{Action: ActionRejectToken})
	b.want(401, "GET", "/v1/sandboxes", rootToken, "")
	b.want(401, "POST", "/v1/claim", tenantToken, claimBody("a/b"))
	b.want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
	b.want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", rootToken, "")
	b.ClearFaults()
	if b.ids() != "a/b" {
		t.Error("the sandbox is gone")
	}
}

func TestWhichRequestsAFaultStrikes(t *testing.T) {
	inBubble(t, testConfig(), func(b bench) {
		b.fault(Fault{Endpoint: "info", Action: ActionStatus, Status: 500, Skip: 1, Count: 2})
		for _, status := range []int{200, 500, 500, 200} {
			b.want(status, "GET", "/v1/info", rootToken, "")
		}
		b.fault(Fault{Endpoint: "info", Action: ActionStatus, Status: 500, For: Duration(time.Minute)})
		time.Sleep(time.Minute - 1)
		b.want(500, "GET", "/v1/info", rootToken, "")
		time.Sleep(time.Nanosecond)
		b.want(200, "GET", "/v1/info", rootToken, "")
		if left := b.Faults(); len(left) != 0 {
			b.Errorf("faults left: %+v", left)
		}
	})
}

func TestFaultProbability(t *testing.T) {
	strikes := func(seed uint64) string {
		b := start(t, testConfig())
		b.fault(Fault{Endpoint: "info", Action: ActionStatus, Status: 500, Probability: 0.5, Seed: seed})
		var pattern strings.Builder
		for range 64 {
			a, err := b.try("GET", "/v1/info", rootToken, "")
			b.do(err)
			pattern.WriteString(map[int]string{200: ".", 500: "x"}[a.status])
		}
		return pattern.String()
	}
	one := strikes(1)
	if again := strikes(1); one != again {
		t.Errorf("one seed, two patterns: %s, %s", one, again)
	}
	if other := strikes(2); one == other {
		t.Errorf("two seeds, one pattern: %s", one)
	}
	if n := strings.Count(one, "x"); n < 16 || n > 48 {
		t.Errorf("%d of 64 struck at probability 0.5", n)
	}
}

func TestAddFaultRefuses(t *testing.T) {
	for name, f := range map[string]Fault{
		"no action":             {},
		"unknown action":        {Action: "explode"},
		"unknown endpoint":      {Action: ActionDrop, Endpoint: "lists"},
		"unknown point":         {Action: ActionDrop, Point: "later"},
		"no status":             {Action: ActionStatus},
		"no delay":              {Action: ActionDelay},
		"omit nothing":          {Action: ActionOmit},
		"omit more than all":    {Action: ActionOmit, Fraction: 1.5},
		"omit at the response":  {Action: ActionOmit, Rows: 1, Point: PointResponse},
		"truncate a request":    {Action: ActionTruncate, Point: PointRequest},
		"negative count":        {Action: ActionDrop, Count: -1},
		"probability above one": {Action: ActionDrop, Probability: 2},
		"rewrite nothing":       {Action: ActionRewrite},
		"rewrite a request":     {Action: ActionRewrite, Fields: fields(`{"id": 1}`), Point: PointRequest},
		"rewrite to no JSON":    {Action: ActionRewrite, Fields: map[string]json.RawMessage{"id": json.RawMessage("{")}},
		"own token, response":   {Action: ActionRejectSandboxToken, Point: PointResponse},
	} {
		t.Run(name, func(t *testing.T) {
			if id, err := start(t, testConfig()).AddFault(f); err == nil {
				t.Errorf("accepted as %d", id)
			}
		})
	}
}
