// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// host returns a host with a simulated sandboxd.
func host(t *testing.T) (clusterinfo.Host, simtest.Sim) {
	t.Helper()
	sim := simtest.Start(t, simtest.Config())
	web := httptest.NewServer(control.Handler(sim.Server))
	t.Cleanup(web.Close)
	return clusterinfo.Host{Name: "host-1", SandboxdControlURL: web.URL}, sim
}

// templates returns the templates of a host's pools.
func templates(sim simtest.Sim) (names []string) {
	for _, p := range sim.Info().Pools {
		names = append(names, p.Key.Template)
	}
	return names
}

func TestPoolsAreAddedAndTakenAway(t *testing.T) {
	h, sim := host(t)
	restore, err := addPools(t.Context(), []clusterinfo.Host{h}, []string{"pause:3", simtest.Image})
	if err != nil {
		t.Fatal(err)
	}
	if got := templates(sim); !slices.Equal(got, []string{simtest.Image, "pause:3"}) {
		t.Errorf("pools of %v", got)
	}
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if got := sim.Info().Pools; len(got) != 1 || got[0].Target != 2 || got[0].Warm != 2 {
		t.Errorf("pools %+v", got)
	}
}

func TestUnreachableHostGetsNoPools(t *testing.T) {
	h, sim := host(t)
	other := clusterinfo.Host{Name: "host-2", SandboxdControlURL: "http://127.0.0.1:1"}
	if _, err := addPools(t.Context(), []clusterinfo.Host{h, other}, []string{"pause:3"}); err == nil {
		t.Fatal("no error")
	}
	if got := templates(sim); !slices.Equal(got, []string{simtest.Image}) {
		t.Errorf("pools of %v are left", got)
	}
}

func TestMicroVMsSince(t *testing.T) {
	h, sim := host(t)
	hosts := []clusterinfo.Host{h}
	sim.Claim(simtest.ClaimBody("a/before"))
	since := time.Now()
	var out strings.Builder
	if err := checkMicroVMs(t.Context(), &out, hosts, since); err == nil || !strings.Contains(err.Error(), "not routed") {
		t.Errorf("error %v although none was claimed", err)
	}
	after := sim.Claim(simtest.ClaimBody("a/after"))
	claims, left, err := microVMs(t.Context(), hosts, since)
	if err != nil || claims != 1 || !slices.Equal(left, []string{"a/after"}) {
		t.Errorf("%d claimed, left %v, %v", claims, left, err)
	}
	sim.Want(204, "POST", "/v1/sandboxes/"+after.ID+"/release", after.Token, "")
	if err := checkMicroVMs(t.Context(), &out, hosts, since); err != nil || out.String() != "microVMs claimed and released: 1\n" {
		t.Errorf("error %v, output %q", err, &out)
	}
}
