// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// exchange is one call with the request that it makes and what it returns for an answer.
type exchange struct {
	name, request, body string
	status              int
	answer              string
	call                func(context.Context, *sandboxd.Client) (any, error)
	want                any
	class               sandboxd.Class
}

func (e exchange) run(t *testing.T) {
	t.Helper()
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if got := r.Method + " " + r.RequestURI; got != e.request || string(body) != e.body || r.Header.Get("Authorization") != "Bearer "+rootSecret {
			t.Errorf("%s with %s and %s\nwant %s with %s and the node API token", got, body, r.Header.Get("Authorization"), e.request, e.body)
		}
		answer(e.status, e.answer)(w, r)
	})
	got, err := e.call(t.Context(), cl)
	if class := sandboxd.ClassOf(err); class != e.class || (err == nil) != (e.class == "") {
		t.Errorf("error %v, want class %q", err, e.class)
	}
	if diff := cmp.Diff(e.want, got, equateTokens); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestLifecycle(t *testing.T) {
	hibernate := func(ctx context.Context, cl *sandboxd.Client) (any, error) { return nil, cl.Hibernate(ctx, "sb_1") }
	wake := func(ctx context.Context, cl *sandboxd.Client) (any, error) { return nil, cl.Wake(ctx, "sb_1") }
	renew := func(seconds int64) func(context.Context, *sandboxd.Client) (any, error) {
		return func(ctx context.Context, cl *sandboxd.Client) (any, error) { return cl.Renew(ctx, "sb_1", seconds) }
	}
	const onRenew = "POST /v1/sandboxes/sb_1/renew"
	for _, e := range []exchange{
		{name: "hibernate", request: "POST /v1/sandboxes/sb_1/hibernate", status: 204, call: hibernate},
		{name: "hibernate, merely noted", request: "POST /v1/sandboxes/sb_1/hibernate", status: 202, call: hibernate, class: sandboxd.Unavailable},
		{name: "hibernate with volumes", request: "POST /v1/sandboxes/sb_1/hibernate", status: 409, call: hibernate, class: sandboxd.Invalid},
		{name: "wake", request: "POST /v1/sandboxes/sb_1/wake", status: 204, call: wake},
		{name: "wake of nothing", request: "POST /v1/sandboxes/sb_1/wake", status: 404, call: wake, class: sandboxd.NotFound},
		{
			name: "renew, less granted than asked", request: onRenew, body: `{"ttl_seconds":604800}`, status: 200,
			answer: `{"deadline":"2026-07-28T04:15:00+02:00","more":1}`, call: renew(604800), want: time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC),
		},
		{
			name: "renew for the node's default", request: onRenew, body: `{"ttl_seconds":0}`, status: 200,
			answer: `{"deadline":"2026-07-28T02:15:00Z"}`, call: renew(0), want: time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC),
		},
		{name: "renew of an archived sandbox", request: onRenew, body: `{"ttl_seconds":0}`, status: 409, call: renew(0), want: time.Time{}, class: sandboxd.Invalid},
		{name: "renew without a deadline", request: onRenew, body: `{"ttl_seconds":0}`, status: 200, answer: `{}`, call: renew(0), want: time.Time{}, class: sandboxd.Unavailable},
		{
			name: "renew with a deadline that is no time", request: onRenew, body: `{"ttl_seconds":0}`, status: 200,
			answer: `{"deadline":"soon"}`, call: renew(0), want: time.Time{}, class: sandboxd.Unavailable,
		},
	} {
		t.Run(e.name, e.run)
	}
}

func TestFork(t *testing.T) {
	const child = `{"id":"sb_%","token":"t%","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777"}`
	childOf := func(n string) string { return strings.ReplaceAll(child, "%", n) }
	claimOf := func(n string) sandboxd.Claim {
		return sandboxd.Claim{ID: "sb_" + n, Token: sandboxd.NewToken("t" + n), Deadline: time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC), OwnerAddr: "10.0.0.5:7777"}
	}
	fork := func(ctx context.Context, cl *sandboxd.Client) (any, error) {
		return cl.Fork(ctx, "sb_1", sandboxd.ForkRequest{Count: 2, TTLSeconds: 60, ClaimRefPrefix: "team-red/"})
	}
	none := []sandboxd.Claim(nil)
	for _, e := range []exchange{
		{name: "all", status: 200, answer: `{"children":[` + childOf("2") + `,` + childOf("3") + `]}`, want: []sandboxd.Claim{claimOf("2"), claimOf("3")}},
		// What did arrive has a credential, and somebody has to release it.
		{name: "too few", status: 200, answer: `{"children":[` + childOf("2") + `]}`, want: []sandboxd.Claim{claimOf("2")}, class: sandboxd.Unavailable},
		{name: "one without a token", status: 200, answer: `{"children":[{"id":"sb_9"},` + childOf("3") + `]}`, want: []sandboxd.Claim{claimOf("3")}, class: sandboxd.Unavailable},
		{name: "none", status: 200, answer: `{"children":[]}`, want: none, class: sandboxd.Unavailable},
		{name: "no list", status: 200, answer: `{}`, want: none, class: sandboxd.Unavailable},
		{name: "no capacity", status: 429, want: none, class: sandboxd.NoCapacity},
		{name: "bad count", status: 400, want: none, class: sandboxd.Invalid},
	} {
		e.request, e.body, e.call = "POST /v1/sandboxes/sb_1/fork", `{"count":2,"ttl_seconds":60,"claim_ref_prefix":"team-red/"}`, fork
		t.Run(e.name, e.run)
	}
}

func TestCheckpoint(t *testing.T) {
	checkpoint := func(ctx context.Context, cl *sandboxd.Client) (any, error) {
		return cl.Checkpoint(ctx, "sb_1", "before")
	}
	whole := sandboxd.Checkpoint{
		ID: "cp_1", Name: "before", SandboxID: "sb_1", Key: sandboxd.Key{Template: "rt:24.04", Net: "none", Size: "small"},
		CreatedAt: time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC),
	}
	for _, e := range []exchange{
		{
			name: "whole", status: 200, want: whole,
			answer: `{"checkpoint":{"id":"cp_1","name":"before","sandbox_id":"sb_1","key":{"template":"rt:24.04","net":"none","size":"small"},"created_at":"2026-07-28T02:15:00Z"}}`,
		},
		{name: "only an id", status: 200, answer: `{"checkpoint":{"id":"cp_1","created_at":7,"key":"x"}}`, want: sandboxd.Checkpoint{ID: "cp_1"}},
		{name: "no id", status: 200, answer: `{"checkpoint":{"name":"before"}}`, want: sandboxd.Checkpoint{}, class: sandboxd.Unavailable},
		{name: "name taken", status: 409, want: sandboxd.Checkpoint{}, class: sandboxd.Invalid},
	} {
		e.request, e.body, e.call = "POST /v1/sandboxes/sb_1/checkpoint", `{"name":"before"}`, checkpoint
		t.Run(e.name, e.run)
	}
}

func TestSetPools(t *testing.T) {
	set := func(pools ...sandboxd.PoolTarget) func(context.Context, *sandboxd.Client) (any, error) {
		return func(ctx context.Context, cl *sandboxd.Client) (any, error) { return cl.SetPools(ctx, pools) }
	}
	key := sandboxd.Key{Template: "rt:24.04", Net: "none", Size: "small"}
	const request = "PUT /v1/pools"
	for _, e := range []exchange{
		{
			name: "one", request: request, body: `{"pools":[{"template":"rt:24.04","net":"none","size":"small","warm":4,"warm_max":8,"idle_hibernate_seconds":0}]}`, status: 200,
			answer: `{"pools":[{"key":{"template":"rt:24.04","net":"none","size":"small"},"warm":1,"target":4}],"claimed":2}`,
			call:   set(sandboxd.PoolTarget{Key: key, Warm: 4, WarmMax: new(8), IdleHibernateSeconds: new(int64(0))}),
			want:   sandboxd.Info{Pools: []sandboxd.Pool{{Key: key, Warm: 1, Target: 4}}, Claimed: 2},
		},
		// null would be another document than the empty set.
		{name: "none", request: request, body: `{"pools":[]}`, status: 200, answer: `{"pools":[]}`, call: set(), want: sandboxd.Info{Pools: []sandboxd.Pool{}}},
		{name: "refused", request: request, body: `{"pools":[]}`, status: 400, call: set(), want: sandboxd.Info{}, class: sandboxd.Invalid},
	} {
		t.Run(e.name, e.run)
	}
}

func TestInfoOfNewerDaemons(t *testing.T) {
	for _, c := range []struct {
		fields               string
		draining, atCapacity sandboxd.Flag
	}{
		{`"claimed":2`, false, false},
		{`"claimed":2,"draining":true,"at_capacity":false`, true, false},
		{`"claimed":2,"draining":false,"at_capacity":"max_claims"`, false, true},
		{`"claimed":2,"draining":null,"at_capacity":""`, false, false},
		{`"claimed":2,"at_capacity":{"reason":"memory"}`, false, true},
	} {
		got, err := serve(t, answer(200, "{"+c.fields+"}")).Info(t.Context())
		if want := (sandboxd.Info{Claimed: 2, Draining: c.draining, AtCapacity: c.atCapacity}); err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %+v, error %v; want %+v", c.fields, got, err, want)
		}
	}
}

func TestFindByRef(t *testing.T) {
	find := func(ctx context.Context, cl *sandboxd.Client) (any, error) {
		return cl.FindByRef(ctx, "team-red/notebook-a")
	}
	second := rowRead
	second.ID = "sb_2"
	for _, e := range []exchange{
		{name: "none", answer: `{"sandboxes":[]}`, want: []sandboxd.Sandbox{}},
		{name: "two of one ref", answer: `{"sandboxes":[` + row + `,` + `{"id":"sb_2",` + row[len(`{"id":"sb_1",`):] + `]}`, want: []sandboxd.Sandbox{rowRead, second}},
		// A daemon that does not know the query, or a proxy that drops it, lists everything.
		{name: "others among them", answer: `{"sandboxes":[{"id":"sb_7","claim_ref":"team-red/notebook"},` + row + `,{"id":"sb_8"},{"id":"sb_9","claim_ref":7}]}`, want: []sandboxd.Sandbox{rowRead}},
		{name: "no list", answer: `{}`, want: []sandboxd.Sandbox(nil), class: sandboxd.Unavailable},
	} {
		e.request, e.status, e.call = "GET /v1/sandboxes?claim_ref=team-red%2Fnotebook-a", 200, find
		t.Run(e.name, e.run)
	}
	t.Run("empty", func(t *testing.T) {
		cl := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent, which lists every sandbox") })
		rows, err := cl.FindByRef(t.Context(), "")
		wantClass(t, err, sandboxd.Invalid)
		if rows != nil {
			t.Errorf("rows %v", rows)
		}
	})
}

// A redirect can be followed to the peers that it names, with what it asks for.
func TestRedirects(t *testing.T) {
	req := sandboxd.ClaimRequest{Template: "rt:24.04", ClaimRef: "team-red/notebook-a"}
	for name, c := range map[string]struct{ answer, followed string }{
		"plain":             {`{"redirect":["10.0.0.6:7777","10.0.0.7:7777"]}`, `{"template":"rt:24.04","ttl_seconds":0,"claim_ref":"team-red/notebook-a","no_redirect":true}`},
		"requires promoted": {`{"redirect":["10.0.0.6:7777","10.0.0.7:7777"],"require_promoted":true}`, `{"template":"rt:24.04","ttl_seconds":0,"claim_ref":"team-red/notebook-a","no_redirect":true,"require_promoted":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, answer(200, c.answer)).Claim(t.Context(), req)
			redirect, ok := sandboxd.RedirectOf(err)
			if !ok || !cmp.Equal(redirect.Peers, []string{"10.0.0.6:7777", "10.0.0.7:7777"}) {
				t.Fatalf("peers %v of %v", redirect.Peers, err)
			}
			e := exchange{
				request: "POST /v1/claim", body: c.followed, status: 200, answer: `{"id":"sb_1","token":"t"}`,
				call: func(ctx context.Context, peer *sandboxd.Client) (any, error) {
					return peer.ClaimRedirected(ctx, req, redirect)
				},
				want: sandboxd.Claim{ID: "sb_1", Token: sandboxd.NewToken("t")},
			}
			e.run(t)
		})
	}
	for _, status := range []int{429, 500} {
		_, err := serve(t, answer(status, `{"redirect":["10.0.0.6:7777"]}`)).Claim(t.Context(), req)
		if _, ok := sandboxd.RedirectOf(err); ok {
			t.Errorf("status %d counts as a redirect", status)
		}
	}
	if _, ok := sandboxd.RedirectOf(nil); ok {
		t.Error("no error counts as a redirect")
	}
}
