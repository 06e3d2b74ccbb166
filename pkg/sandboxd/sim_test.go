// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

var small = config.Key{Template: "rt:24.04", Net: "none", Size: "small"}

// withSimulator runs a test against a simulated node under virtual time.
func withSimulator(t *testing.T, change func(*config.Config), test func(t *testing.T, s *sandboxdsim.Server, cl *sandboxd.Client)) {
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Config{
			RootToken: rootSecret, TenantToken: "tenant", AdvertiseAddr: "10.0.0.5:7777",
			Pools: []config.Pool{{Key: small, Target: 2}}, Rand: rand.NewChaCha8([32]byte{1}),
		}
		if change != nil {
			change(&cfg)
		}
		s, err := sandboxdsim.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s, newClient(t, sandboxd.Config{Transport: s.Transport()}))
	})
}

var ask = sandboxd.ClaimRequest{Template: "rt:24.04", TTLSeconds: 3600, ClaimRef: "team-red/notebook-a"}

func claimOne(t *testing.T, cl *sandboxd.Client) sandboxd.Claim {
	t.Helper()
	c, err := cl.Claim(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSimulatedLife(t *testing.T) {
	withSimulator(t, nil, func(t *testing.T, _ *sandboxdsim.Server, cl *sandboxd.Client) {
		ctx := context.Background()
		c := claimOne(t, cl)
		if c.OwnerAddr != "10.0.0.5:7777" || !c.Deadline.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("claim %+v", c)
		}
		rows, err := cl.List(ctx)
		if err != nil || len(rows) != 1 || rows[0].ID != c.ID || rows[0].ClaimRef != "team-red/notebook-a" || rows[0].Key != (sandboxd.Key(small)) {
			t.Fatalf("rows %+v, error %v", rows, err)
		}
		if got, err := cl.Get(ctx, c.ID); err != nil || got != rows[0] {
			t.Errorf("row %+v, error %v; want %+v", got, err, rows[0])
		}
		info, err := cl.Info(ctx)
		if err != nil || info.Claimed != 1 || len(info.Pools) != 1 || info.Pools[0].Warm != 1 || info.Pools[0].Key != sandboxd.Key(small) {
			t.Errorf("info %+v, error %v", info, err)
		}
		// A wrong token answers as an unknown id does, and destroys nothing.
		wantClass(t, cl.Release(ctx, c.ID, sandboxd.NewToken("wrong")), sandboxd.NotFound)
		if _, err := cl.Get(ctx, c.ID); err != nil {
			t.Fatalf("a wrong token destroyed the sandbox: %v", err)
		}
		if err := cl.Release(ctx, c.ID, c.Token); err != nil {
			t.Fatal(err)
		}
		wantClass(t, cl.Release(ctx, c.ID, c.Token), sandboxd.NotFound)
		_, err = cl.Get(ctx, c.ID)
		wantClass(t, err, sandboxd.NotFound)
		if rows, err := cl.List(ctx); err != nil || len(rows) != 0 {
			t.Errorf("rows %+v, error %v; want none", rows, err)
		}
	})
}

func TestSimulatedRefusals(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*config.Config)
		req    sandboxd.ClaimRequest
		want   sandboxd.Class
		wait   time.Duration
	}{
		{"unknown template", nil, sandboxd.ClaimRequest{Template: "other"}, sandboxd.Invalid, 0},
		{"no egress attachment", nil, sandboxd.ClaimRequest{Template: "rt:24.04", Net: "lane-1"}, sandboxd.Invalid, 0},
		{"at max_claims", func(c *config.Config) { c.MaxClaims, c.RetryAfter = -1, 30*time.Second }, ask, sandboxd.NoCapacity, 30 * time.Second},
		{"redirect", func(c *config.Config) {
			c.MaxClaims, c.Redirect, c.Peers = -1, config.RedirectFull, []string{"10.0.0.6:7777"}
		}, ask, sandboxd.NoCapacity, 0},
		{"unknown token", func(c *config.Config) { c.RootToken = "other" }, ask, sandboxd.Unauthorized, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			withSimulator(t, c.change, func(t *testing.T, _ *sandboxdsim.Server, cl *sandboxd.Client) {
				_, err := cl.Claim(context.Background(), c.req)
				wantClass(t, err, c.want)
				if got := errorOf(t, err).RetryAfter(); got != c.wait {
					t.Errorf("wait %v, want %v", got, c.wait)
				}
			})
		})
	}
	t.Run("tenant token on an operator endpoint", func(t *testing.T) {
		withSimulator(t, nil, func(t *testing.T, s *sandboxdsim.Server, _ *sandboxd.Client) {
			cl := newClient(t, sandboxd.Config{Transport: s.Transport(), Token: sandboxd.StaticToken(sandboxd.NewToken("tenant"))})
			claimOne(t, cl)
			_, err := cl.List(context.Background())
			wantClass(t, err, sandboxd.Unauthorized)
		})
	})
}

func TestSimulatedFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault fault.Fault
		want  sandboxd.Class
		rows  int
	}{
		{"answer lost after the claim was made", fault.Fault{Endpoint: "claim", Action: fault.ActionDrop, Point: fault.PointResponse}, sandboxd.Unreachable, 1},
		{"request lost", fault.Fault{Endpoint: "claim", Action: fault.ActionDrop}, sandboxd.Unreachable, 0},
		{"hang", fault.Fault{Endpoint: "claim", Action: fault.ActionHang}, sandboxd.Unreachable, 0},
		{"answer cut", fault.Fault{Endpoint: "claim", Action: fault.ActionTruncate}, sandboxd.Unavailable, 1},
		{"500", fault.Fault{Endpoint: "claim", Action: fault.ActionStatus, Status: 500}, sandboxd.Unavailable, 0},
		{"restart in the middle", fault.Fault{Endpoint: "claim", Action: fault.ActionRestart}, sandboxd.Unreachable, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			withSimulator(t, nil, func(t *testing.T, s *sandboxdsim.Server, cl *sandboxd.Client) {
				c.fault.Count = 1
				if _, err := s.Faults.Add(c.fault); err != nil {
					t.Fatal(err)
				}
				got, err := cl.Claim(context.Background(), ask)
				wantClass(t, err, c.want)
				if got.ID != "" {
					t.Errorf("claim %+v beside the error", got)
				}
				if rows, err := cl.List(context.Background()); err != nil || len(rows) != c.rows {
					t.Errorf("%d rows, error %v; want %d", len(rows), err, c.rows)
				}
			})
		})
	}
}

// What costs no sandbox on a whole node: a malformed row, an odd address, and an
// own token that the node refuses.
func TestSimulatedOddities(t *testing.T) {
	withSimulator(t, nil, func(t *testing.T, s *sandboxdsim.Server, cl *sandboxd.Client) {
		ctx := context.Background()
		for _, f := range []fault.Fault{
			{Endpoint: "claim", Action: fault.ActionRewrite, Fields: map[string]json.RawMessage{"owner_addr": json.RawMessage(`"fd00::5"`)}, Count: 1},
			{Endpoint: "list", Action: fault.ActionRewrite, Rows: 1, Fields: map[string]json.RawMessage{"deadline": json.RawMessage(`"soon"`)}},
			{Endpoint: "release", Action: fault.ActionRejectSandboxToken},
		} {
			if _, err := s.Faults.Add(f); err != nil {
				t.Fatal(err)
			}
		}
		odd, other := claimOne(t, cl), claimOne(t, cl)
		if odd.OwnerAddr != "fd00::5" {
			t.Errorf("address %q", odd.OwnerAddr)
		}
		rows, err := cl.List(ctx)
		if err != nil || len(rows) != 2 || !rows[0].Malformed || rows[0].ID != odd.ID || rows[1].Malformed || rows[1].ID != other.ID {
			t.Errorf("rows %+v, error %v; want the first malformed", rows, err)
		}
		wantClass(t, cl.Release(ctx, odd.ID, odd.Token), sandboxd.NotFound)
		if err := cl.ReleaseByID(ctx, odd.ID); err != nil {
			t.Error(err)
		}
		wantClass(t, cl.ReleaseByID(ctx, odd.ID), sandboxd.NotFound)
	})
}

// A set of pools takes effect at once and outlives the daemon.
func TestSimulatedPools(t *testing.T) {
	withSimulator(t, nil, func(t *testing.T, s *sandboxdsim.Server, cl *sandboxd.Client) {
		ctx := context.Background()
		other := sandboxd.Key{Template: "other:1", Net: "none", Size: "large"}
		set := []sandboxd.PoolTarget{{Key: sandboxd.Key(small), Warm: 1}, {Key: other, Warm: 3, WarmMax: new(4)}}
		info, err := cl.SetPools(ctx, set)
		if err != nil || len(info.Pools) != 2 || info.Pools[0].Warm != 2 || info.Pools[1].Key != other || info.Pools[1].Target != 3 {
			t.Fatalf("info %+v, error %v", info, err)
		}
		if _, err := cl.Claim(ctx, sandboxd.ClaimRequest{Template: other.Template, Size: other.Size}); err != nil {
			t.Errorf("claim of the new pool: %v", err)
		}
		_, err = cl.SetPools(ctx, append(set, set[0]))
		wantClass(t, err, sandboxd.Invalid)
		if err := s.Restart(sandboxdsim.RestartOptions{}); err != nil {
			t.Fatal(err)
		}
		if info, err := cl.Info(ctx); err != nil || len(info.Pools) != 2 {
			t.Errorf("info %+v after the restart and a refused set, error %v", info, err)
		}
	})
}

// The verbs of a remote caller on a whole node, which needs the node API token alone.
func TestSimulatedLifecycle(t *testing.T) {
	withSimulator(t, nil, func(t *testing.T, _ *sandboxdsim.Server, cl *sandboxd.Client) {
		ctx := context.Background()
		c := claimOne(t, cl)
		hibernated := func(want bool) {
			t.Helper()
			rows, err := cl.FindByRef(ctx, ask.ClaimRef)
			if err != nil || len(rows) != 1 || rows[0].ID != c.ID || rows[0].Hibernated != want {
				t.Fatalf("rows %+v, error %v; want %s, hibernated %v", rows, err, c.ID, want)
			}
		}
		for range 2 {
			if err := cl.Hibernate(ctx, c.ID); err != nil {
				t.Fatal(err)
			}
			hibernated(true)
		}
		if err := cl.Wake(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		hibernated(false)
		deadline, err := cl.Renew(ctx, c.ID, 7*24*3600)
		if err != nil || !deadline.Equal(time.Now().Add(24*time.Hour)) {
			t.Errorf("lease until %v, error %v; want the longest that is granted", deadline, err)
		}
		if rows, err := cl.FindByRef(ctx, "team-red/notebook"); err != nil || len(rows) != 0 {
			t.Errorf("rows %+v of another ref, error %v", rows, err)
		}
		wantClass(t, cl.Hibernate(ctx, "sb_unknown"), sandboxd.NotFound)
		if err := cl.ReleaseByID(ctx, c.ID); err != nil {
			t.Error(err)
		}
		if rows, err := cl.FindByRef(ctx, ask.ClaimRef); err != nil || len(rows) != 0 {
			t.Errorf("rows %+v after the release, error %v", rows, err)
		}
	})
}
