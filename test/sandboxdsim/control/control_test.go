// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// controlled is a server with a client of its control API.
func controlled(t *testing.T) (simtest.Sim, control.Client) {
	t.Helper()
	b := simtest.Start(t, simtest.Config())
	web := httptest.NewServer(control.Handler(b.Server))
	t.Cleanup(web.Close)
	return b, control.Client{URL: web.URL}
}

func TestHistory(t *testing.T) {
	b, client := controlled(t)
	c := b.Claim(simtest.ClaimBody("a/b"))
	b.Claim(simtest.ClaimBody("a/c"))
	for name, tc := range map[string]struct {
		filter      history.Filter
		events, vms int
	}{
		"all":       {history.Filter{}, 7, 2},
		"a ref":     {history.Filter{ClaimRef: "a/b"}, 2, 1},
		"a sandbox": {history.Filter{Sandbox: c.ID}, 3, 1},
		"a type":    {history.Filter{Type: history.EventClaimed}, 2, 2},
		"the last":  {history.Filter{After: 6}, 1, 2},
	} {
		all, err := client.History(t.Context(), tc.filter)
		if err != nil || len(all.Events) != tc.events || len(all.VMs) != tc.vms || all.Counters.Claimed != 2 {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	token, err := client.Token(t.Context(), c.ID)
	if err != nil || token != c.Token {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestRequests(t *testing.T) {
	b, client := controlled(t)
	b.Claim(simtest.ClaimBody("a/b"))
	b.List("?claim_ref=a/b")
	log, err := client.Requests(t.Context(), history.RequestFilter{Endpoint: "list"})
	if err != nil || len(log.Requests) != 1 || log.Counts["claim"] != 1 || log.Counts["list"] != 1 {
		t.Fatalf("log %+v, %v", log, err)
	}
	if r := log.Requests[0]; r.Method != http.MethodGet || r.Path != "/v1/sandboxes?claim_ref=a/b" || r.Status != 200 || r.By != history.ByRoot || r.Seq != 2 {
		t.Errorf("request %+v", r)
	}
	if log, err = client.Requests(t.Context(), history.RequestFilter{After: 2}); err != nil || len(log.Requests) != 0 {
		t.Errorf("log %+v, %v", log, err)
	}
}

func TestFaults(t *testing.T) {
	b, client := controlled(t)
	id, err := client.AddFault(t.Context(), fault.Fault{Endpoint: "info", Action: fault.ActionStatus, Status: 503, RetryAfter: metav1.Duration{Duration: 2 * time.Second}})
	b.Must(err)
	if a := b.Want(503, "GET", "/v1/info", simtest.RootToken, ""); a.Header.Get("Retry-After") != "2" {
		t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
	}
	if list := b.Faults.List(); len(list) != 1 || list[0].ID != id {
		t.Errorf("faults %+v", list)
	}
	b.Must(client.RemoveFault(t.Context(), id))
	if client.RemoveFault(t.Context(), id) == nil {
		t.Error("a fault was removed twice")
	}
	b.Want(200, "GET", "/v1/info", simtest.RootToken, "")
	b.AddFault(fault.Fault{Action: fault.ActionDrop})
	b.Must(client.ClearFaults(t.Context()))
	b.Want(200, "GET", "/v1/info", simtest.RootToken, "")
}

func TestCapacity(t *testing.T) {
	b, client := controlled(t)
	b.Must(client.SetCapacity(t.Context(), host.Capacity{MaxClaims: ptr.To(-1), Pools: []host.PoolCapacity{{Key: simtest.Key(), Warm: ptr.To(7)}}}))
	b.Want(429, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
	now, err := client.Capacity(t.Context())
	if err != nil || *now.MaxClaims != -1 || *now.Pools[0].Warm != 7 || *now.Pools[0].Target != 2 {
		t.Errorf("capacity %+v, %v", now, err)
	}
}

func TestPools(t *testing.T) {
	b, client := controlled(t)
	b.Must(client.SetPools(t.Context(), []config.Pool{{Key: config.Key{Template: "other"}, Target: 3}}))
	want := config.Key{Template: "other", Net: config.DefaultNet, Size: config.DefaultSize}
	if p := b.Info().Pools; len(p) != 1 || p[0].Key != want || p[0].Target != 3 {
		t.Errorf("pools %+v", p)
	}
	if n := b.History(history.Filter{}).Counters.DestroyedBy[history.ByControl]; n != 2 {
		t.Errorf("%d warm VMs destroyed, want both of the pool that was left out", n)
	}
}

// do sends one request to the control API and fails unless the status is the one given.
func do(b simtest.Sim, status int, method, path, body string) string {
	b.Helper()
	rec := httptest.NewRecorder()
	control.Handler(b.Server).ServeHTTP(rec, httptest.NewRequestWithContext(b.Context(), method, path, strings.NewReader(body)))
	if rec.Code != status {
		b.Errorf("%s %s %s: status %d, want %d: %s", method, path, body, rec.Code, status, rec.Body)
	}
	return rec.Body.String()
}

func TestSandboxes(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/b"))
	path := "/sandboxes/" + c.ID
	do(b, 204, "POST", path+"/hibernate", "")
	do(b, 204, "POST", path+"/archive", "")
	do(b, 204, "POST", path+"/wake", "")
	deadline := time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)
	do(b, 204, "POST", path+"/lease", `{"deadline":"2040-01-02T03:04:05Z"}`)
	if r := b.List("").Sandboxes[0]; !r.Deadline.Equal(deadline) {
		t.Errorf("deadline %v", r.Deadline)
	}
	do(b, 204, "POST", path+"/hibernate", "")
	do(b, 204, "POST", path+"/lease", `{"in":"-1h"}`)
	if r := b.List("").Sandboxes[0]; !r.Deadline.Before(time.Now()) {
		t.Errorf("deadline %v", r.Deadline)
	}
	do(b, 400, "POST", path+"/lease", `{"deadline":"2040-01-02T03:04:05Z","in":"1s"}`)
	do(b, 204, "POST", path+"/expire", "")
	b.WantHistory(c.ID, "made claimed answered hibernated archived woken lease-moved hibernated lease-moved reaped")
	lost := b.Claim(simtest.ClaimBody("a/c"))
	do(b, 204, "POST", "/sandboxes/"+lost.ID+"/lose", "")
	do(b, 404, "POST", "/sandboxes/"+lost.ID+"/lose", "")
}

func TestRestart(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	do(b, 204, "POST", "/restart", `{"rebuild":{"for":"1h","index":"unavailable"}}`)
	b.Want(503, "GET", "/v1/sandboxes", simtest.RootToken, "")
	if list := do(b, 200, "GET", "/faults", ""); strings.Count(list, `"status":503`) != 2 {
		t.Errorf("faults %s", list)
	}
	do(b, 204, "POST", "/restart", `{"down":"1h"}`)
	do(b, 503, "POST", "/capacity", `{"max_claims":1}`)
}

func TestRefuses(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	for _, tc := range []struct {
		status             int
		method, path, body string
	}{
		{400, "POST", "/faults", `{"action":"explode"}`},
		{400, "POST", "/faults", `{"action":"drop","cuont":1}`},
		{400, "POST", "/faults", `{"action":"delay","delay":5}`},
		{400, "POST", "/capacity", `{"redirect":"maybe"}`},
		{400, "PUT", "/pools", `[{"template":"a","target":-1}]`},
		{400, "PUT", "/pools", `[{"template":"a","warm":1}]`},
		{400, "POST", "/restart", `{"rebuild":{"for":"1s","index":"odd"}}`},
		{400, "POST", "/restart", `{"down":"-1s"}`},
		{400, "POST", "/sandboxes/sb_1/lease", `{}`},
		{400, "GET", "/history?after=x", ``},
		{404, "DELETE", "/faults/x", ``},
		{404, "POST", "/sandboxes/sb_1/hibernate", ``},
		{404, "GET", "/sandboxes/sb_1/token", ``},
		{404, "GET", "/nowhere", ``},
	} {
		do(b, tc.status, tc.method, tc.path, tc.body)
	}
	if left := b.Faults.List(); len(left) != 0 {
		t.Errorf("faults %+v", left)
	}
}
