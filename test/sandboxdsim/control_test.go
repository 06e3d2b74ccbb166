// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// controlled is a server with a client of its control API.
func controlled(t *testing.T) (bench, ControlClient) {
	t.Helper()
	b := start(t, testConfig())
	web := httptest.NewServer(b.ControlHandler())
	t.Cleanup(web.Close)
	return b, ControlClient{URL: web.URL}
}

func TestControlTruth(t *testing.T) {
	b, control := controlled(t)
	c := b.claim(claimBody("a/b"))
	b.claim(claimBody("a/c"))
	for name, tc := range map[string]struct {
		filter      EventFilter
		events, vms int
	}{
		"all":       {EventFilter{}, 7, 2},
		"a ref":     {EventFilter{ClaimRef: "a/b"}, 2, 1},
		"a sandbox": {EventFilter{Sandbox: c.ID}, 3, 1},
		"a type":    {EventFilter{Type: EventClaimed}, 2, 2},
		"the last":  {EventFilter{After: 6}, 1, 2},
	} {
		truth, err := control.Truth(t.Context(), tc.filter)
		if err != nil || len(truth.Events) != tc.events || len(truth.VMs) != tc.vms || truth.Counters.Claimed != 2 {
			t.Errorf("%s: %+v, %v", name, truth, err)
		}
	}
	token, err := control.Token(t.Context(), c.ID)
	if err != nil || token != c.Token {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestControlRequests(t *testing.T) {
	b, control := controlled(t)
	b.claim(claimBody("a/b"))
	b.list("?claim_ref=a/b")
	log, err := control.Requests(t.Context(), RequestFilter{Endpoint: "list"})
	if err != nil || len(log.Requests) != 1 || log.Counts["claim"] != 1 || log.Counts["list"] != 1 {
		t.Fatalf("log %+v, %v", log, err)
	}
	if r := log.Requests[0]; r.Method != http.MethodGet || r.Path != "/v1/sandboxes?claim_ref=a/b" || r.Status != 200 || r.By != ByRoot || r.Seq != 2 {
		t.Errorf("request %+v", r)
	}
	if log, err = control.Requests(t.Context(), RequestFilter{After: 2}); err != nil || len(log.Requests) != 0 {
		t.Errorf("log %+v, %v", log, err)
	}
}

func TestControlFaults(t *testing.T) {
	b, control := controlled(t)
	id, err := control.AddFault(t.Context(), Fault{Endpoint: "info", Action: ActionStatus, Status: 503, RetryAfter: Duration(2 * time.Second)})
	b.do(err)
	if a := b.want(503, "GET", "/v1/info", rootToken, ""); a.header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
	list, err := control.Faults(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != id {
		t.Errorf("faults %+v, %v", list, err)
	}
	b.do(control.RemoveFault(t.Context(), id))
	if control.RemoveFault(t.Context(), id) == nil {
		t.Error("a fault was removed twice")
	}
	b.want(200, "GET", "/v1/info", rootToken, "")
	b.fault(Fault{Action: ActionDrop})
	b.do(control.ClearFaults(t.Context()))
	b.want(200, "GET", "/v1/info", rootToken, "")
}

func TestControlCapacity(t *testing.T) {
	b, control := controlled(t)
	b.do(control.SetCapacity(t.Context(), Capacity{MaxClaims: ptr(-1), Pools: []PoolCapacity{{Key: testKey, Warm: ptr(7)}}}))
	b.want(429, "POST", "/v1/claim", rootToken, claimBody("a/b"))
	now, err := control.Capacity(t.Context())
	if err != nil || *now.MaxClaims != -1 || *now.Pools[0].Warm != 7 || *now.Pools[0].Target != 2 {
		t.Errorf("capacity %+v, %v", now, err)
	}
}

func TestControlSandboxes(t *testing.T) {
	b, control := controlled(t)
	ctx := t.Context()
	c := b.claim(claimBody("a/b"))
	b.do(control.Hibernate(ctx, c.ID))
	b.do(control.Archive(ctx, c.ID))
	b.do(control.Wake(ctx, c.ID))
	deadline := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	b.do(control.MoveLease(ctx, c.ID, Lease{Deadline: deadline}))
	if r := b.list("").Sandboxes[0]; !r.Deadline.Equal(deadline) {
		t.Errorf("deadline %v", r.Deadline)
	}
	b.do(control.Hibernate(ctx, c.ID))
	b.do(control.MoveLease(ctx, c.ID, Lease{In: Duration(-time.Hour)}))
	if r := b.list("").Sandboxes[0]; !r.Deadline.Before(time.Now()) {
		t.Errorf("deadline %v", r.Deadline)
	}
	b.do(control.Expire(ctx, c.ID))
	b.wantHistory(c.ID, "made claimed answered hibernated archived woken lease-moved hibernated lease-moved reaped")
	if control.MoveLease(ctx, c.ID, Lease{}) == nil || control.MoveLease(ctx, c.ID, Lease{Deadline: deadline, In: 1}) == nil {
		t.Error("a lease moved nowhere, or to two places")
	}
	lost := b.claim(claimBody("a/c"))
	b.do(control.Lose(ctx, lost.ID))
	if err := control.Lose(ctx, lost.ID); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("lost again: %v", err)
	}
}

func TestControlRefuses(t *testing.T) {
	b, _ := controlled(t)
	for _, tc := range []struct {
		status             int
		method, path, body string
	}{
		{400, "POST", "/faults", `{"action":"explode"}`},
		{400, "POST", "/faults", `{"action":"drop","cuont":1}`},
		{400, "POST", "/faults", `{"action":"delay","delay":5}`},
		{400, "POST", "/capacity", `{"redirect":"maybe"}`},
		{400, "POST", "/restart", `{"rebuild":{"for":"1s","index":"odd"}}`},
		{400, "POST", "/restart", `{"down":"-1s"}`},
		{400, "POST", "/sandboxes/sb_1/lease", `{}`},
		{400, "GET", "/truth?after=x", ``},
		{404, "DELETE", "/faults/x", ``},
		{404, "POST", "/sandboxes/sb_1/hibernate", ``},
		{404, "GET", "/sandboxes/sb_1/token", ``},
		{404, "GET", "/nowhere", ``},
	} {
		rec := httptest.NewRecorder()
		b.ControlHandler().ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, strings.NewReader(tc.body)))
		if rec.Code != tc.status {
			t.Errorf("%s %s %s: status %d, want %d: %s", tc.method, tc.path, tc.body, rec.Code, tc.status, rec.Body)
		}
	}
	if left := b.Faults(); len(left) != 0 {
		t.Errorf("faults %+v", left)
	}
}
