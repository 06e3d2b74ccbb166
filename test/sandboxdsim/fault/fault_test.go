// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault_test

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestStatusFault(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 500, RetryAfter: metav1.Duration{Duration: 30 * time.Second}, Count: 2})
	for range 2 {
		a := b.Want(500, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
		if a.Header.Get("Retry-After") != "30" || !strings.Contains(string(a.Body), "Internal Server Error") {
			t.Errorf("Retry-After %q, body %s", a.Header.Get("Retry-After"), a.Body)
		}
		b.List("")
	}
	b.Claim(simtest.ClaimBody("a/b"))
	if c := b.History(history.Filter{}).Counters; c.Claimed != 1 {
		t.Errorf("%d claims made", c.Claimed)
	}
}

func TestStatusFaultAfterTheFact(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Point: fault.PointResponse, Status: 502, Message: "gone"})
	if a := b.Want(502, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b")); string(a.Body) != `{"error":"gone"}` {
		t.Errorf("body %s", a.Body)
	}
	b.WantHistory(b.List("").Sandboxes[0].ID, "made claimed answer-lost")
}

func TestLostAnswer(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse, Count: 1})
	if _, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Fatalf("error %v, want EOF", err)
	}
	r := b.List("?claim_ref=a/b").Sandboxes[0]
	b.WantHistory(r.ID, "made claimed answer-lost")
	if c := b.History(history.Filter{}).Counters; c.Claimed != 1 || c.AnswersLost != 1 || c.Answered != 0 {
		t.Errorf("counters %+v", c)
	}
	if log := b.Requests.List(history.RequestFilter{Endpoint: "claim"}).Requests; len(log) != 1 || log[0].Status != 0 {
		t.Errorf("requests %+v", log)
	}
	b.AddFault(fault.Fault{Endpoint: "release", Action: fault.ActionDrop, Point: fault.PointResponse})
	if _, err := b.Try("POST", "/v1/sandboxes/"+r.ID+"/release", simtest.RootToken, ""); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
	b.WantHistory(r.ID, "made claimed answer-lost released")
}

func TestDropDoesNothing(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionDrop})
	if _, err := b.Try("POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b")); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
	if c := b.History(history.Filter{}).Counters; c.Claimed != 0 {
		t.Errorf("%d claims made", c.Claimed)
	}
}

func TestDelayOutlivesTheClient(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionDelay, Delay: metav1.Duration{Duration: 40 * time.Second}})
		ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/claim", strings.NewReader(simtest.ClaimBody("a/b")))
		b.Must(err)
		if _, err := b.Send(req, simtest.RootToken); !errors.Is(err, context.DeadlineExceeded) {
			b.Fatalf("error %v, want the deadline", err)
		}
		if b.Refs() != "" {
			b.Error("claimed before the delay is over")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		b.WantHistory(b.List("").Sandboxes[0].ID, "made claimed answer-lost")
	})
}

func TestDelayThenAnswer(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		b.AddFault(fault.Fault{Action: fault.ActionDelay, Delay: metav1.Duration{Duration: time.Second}})
		b.AddFault(fault.Fault{Action: fault.ActionDelay, Delay: metav1.Duration{Duration: time.Second}, Point: fault.PointResponse})
		before := time.Now()
		b.Claim(simtest.ClaimBody("a/b"))
		if took := time.Since(before); took != 2*time.Second {
			b.Errorf("took %v", took)
		}
		if log := b.Requests.List(history.RequestFilter{}).Requests; log[0].Took.Duration != 2*time.Second || !log[0].Time.Equal(before) {
			b.Errorf("log %+v", log)
		}
	})
}

func TestHang(t *testing.T) {
	for _, p := range []fault.Point{fault.PointRequest, fault.PointResponse} {
		t.Run(string(p), func(t *testing.T) {
			simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
				b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionHang, Point: p})
				ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
				defer cancel()
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/v1/claim", strings.NewReader(simtest.ClaimBody("a/b")))
				b.Must(err)
				if _, err := b.Send(req, simtest.RootToken); !errors.Is(err, context.DeadlineExceeded) {
					b.Errorf("error %v, want the deadline", err)
				}
				synctest.Wait()
				if c := b.History(history.Filter{}).Counters; (c.Claimed == 1) != (p == fault.PointResponse) || c.AnswersLost != c.Claimed {
					b.Errorf("counters %+v", c)
				}
			})
		})
	}
}

func TestIndexFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		fault fault.Fault
		want  string
	}{
		"refs":                 {fault.Fault{Action: fault.ActionOmit, ClaimRefs: []string{"a/2"}}, "a/1 a/3"},
		"oldest rows":          {fault.Fault{Action: fault.ActionOmit, Rows: 2}, "a/3"},
		"more rows than are":   {fault.Fault{Action: fault.ActionOmit, Rows: 9}, ""},
		"a fraction, round up": {fault.Fault{Action: fault.ActionOmit, Fraction: 0.5}, "a/3"},
		"empty":                {fault.Fault{Action: fault.ActionEmpty}, ""},
		"other endpoint":       {fault.Fault{Action: fault.ActionEmpty, Endpoint: "get"}, "a/1 a/2 a/3"},
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			for _, ref := range []string{"a/1", "a/2", "a/3"} {
				b.Claim(simtest.ClaimBody(ref))
			}
			b.AddFault(tc.fault)
			if got := b.Refs(); got != tc.want {
				t.Errorf("listed %q, want %q", got, tc.want)
			}
			for _, v := range b.History(history.Filter{}).VMs {
				listed := slices.Contains(strings.Fields(tc.want), v.ClaimRef) && tc.fault.Endpoint == ""
				status := map[bool]int{true: 200, false: 404}[listed]
				b.Want(status, "GET", "/v1/sandboxes/"+v.ID, simtest.RootToken, "")
			}
		})
	}
}

func TestFailedList(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.Claim(simtest.ClaimBody("a/b"))
	id := b.AddFault(fault.Fault{Endpoint: "list", Action: fault.ActionStatus, Status: 503})
	b.Want(503, "GET", "/v1/sandboxes", simtest.RootToken, "")
	if !b.Faults.Remove(id) || b.Faults.Remove(id) {
		t.Error("a fault can be removed once")
	}
	b.AddFault(fault.Fault{Endpoint: "list", Action: fault.ActionTruncate})
	a := b.Want(200, "GET", "/v1/sandboxes", simtest.RootToken, "")
	if json.Valid(a.Body) {
		t.Errorf("body %s is whole", a.Body)
	}
	b.Faults.Clear()
	if b.Refs() != "a/b" {
		t.Error("the list is not whole after the faults")
	}
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionTruncate})
	b.Want(200, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/c"))
	b.WantHistory(b.List("?claim_ref=a/c").Sandboxes[0].ID, "made claimed answer-lost")
}

func TestRejectToken(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/b"))
	b.AddFault(fault.Fault{Action: fault.ActionRejectToken})
	b.Want(401, "GET", "/v1/sandboxes", simtest.RootToken, "")
	b.Want(401, "POST", "/v1/claim", simtest.TenantToken, simtest.ClaimBody("a/b"))
	b.Want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
	b.Want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", simtest.RootToken, "")
	b.Faults.Clear()
	if b.Refs() != "a/b" {
		t.Error("the sandbox is gone")
	}
}

func TestWhichRequestsAFaultStrikes(t *testing.T) {
	simtest.InBubble(t, simtest.Config(), func(b simtest.Sim) {
		b.AddFault(fault.Fault{Endpoint: "info", Action: fault.ActionStatus, Status: 500, Skip: 1, Count: 2})
		for _, status := range []int{200, 500, 500, 200} {
			b.Want(status, "GET", "/v1/info", simtest.RootToken, "")
		}
		b.AddFault(fault.Fault{Endpoint: "info", Action: fault.ActionStatus, Status: 500, For: metav1.Duration{Duration: time.Minute}})
		time.Sleep(time.Minute - 1)
		b.Want(500, "GET", "/v1/info", simtest.RootToken, "")
		time.Sleep(time.Nanosecond)
		b.Want(200, "GET", "/v1/info", simtest.RootToken, "")
		if left := b.Faults.List(); len(left) != 0 {
			b.Errorf("faults left: %+v", left)
		}
	})
}

func TestFaultProbability(t *testing.T) {
	strikes := func(seed uint64) string {
		b := simtest.Start(t, simtest.Config())
		b.AddFault(fault.Fault{Endpoint: "info", Action: fault.ActionStatus, Status: 500, Probability: 0.5, Seed: seed})
		var pattern strings.Builder
		for range 64 {
			a, err := b.Try("GET", "/v1/info", simtest.RootToken, "")
			b.Must(err)
			pattern.WriteString(map[int]string{200: ".", 500: "x"}[a.Status])
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
	for name, f := range map[string]fault.Fault{
		"no action":             {},
		"unknown action":        {Action: "explode"},
		"unknown endpoint":      {Action: fault.ActionDrop, Endpoint: "lists"},
		"unknown point":         {Action: fault.ActionDrop, Point: "later"},
		"no status":             {Action: fault.ActionStatus},
		"no delay":              {Action: fault.ActionDelay},
		"omit nothing":          {Action: fault.ActionOmit},
		"omit more than all":    {Action: fault.ActionOmit, Fraction: 1.5},
		"omit at the response":  {Action: fault.ActionOmit, Rows: 1, Point: fault.PointResponse},
		"truncate a request":    {Action: fault.ActionTruncate, Point: fault.PointRequest},
		"negative count":        {Action: fault.ActionDrop, Count: -1},
		"probability above one": {Action: fault.ActionDrop, Probability: 2},
		"rewrite nothing":       {Action: fault.ActionRewrite},
		"rewrite a request":     {Action: fault.ActionRewrite, Fields: fields(`{"id": 1}`), Point: fault.PointRequest},
		"rewrite to no JSON":    {Action: fault.ActionRewrite, Fields: map[string]json.RawMessage{"id": json.RawMessage("{")}},
		"own token, response":   {Action: fault.ActionRejectSandboxToken, Point: fault.PointResponse},
	} {
		t.Run(name, func(t *testing.T) {
			if id, err := simtest.Start(t, simtest.Config()).Faults.Add(f); err == nil {
				t.Errorf("accepted as %d", id)
			}
		})
	}
}
