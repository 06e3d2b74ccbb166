// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func TestStateDirectory(t *testing.T) {
	cfg := simtest.Config()
	cfg.StateDir = filepath.Join(t.TempDir(), "state")
	b := simtest.Start(t, cfg)
	c := b.Claim(simtest.ClaimBody("a/b"))
	if _, err := sandboxdsim.New(cfg); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second simulator on the directory: %v", err)
	}
	file := filepath.Join(cfg.StateDir, "vms", c.ID+".json")
	for path, mode := range map[string]os.FileMode{cfg.StateDir: 0o700, file: 0o600, filepath.Join(cfg.StateDir, "history.jsonl"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	recorded, err := os.ReadFile(filepath.Join(cfg.StateDir, "history.jsonl"))
	if err != nil || strings.Contains(string(recorded), c.Token) {
		t.Errorf("the record has a token, or %v", err)
	}
}

func TestStateAfterACrash(t *testing.T) {
	cfg := simtest.Config()
	cfg.StateDir = t.TempDir()
	b := simtest.Start(t, cfg)
	c := b.Claim(simtest.ClaimBody("a/b"))
	b.Must(b.Close())
	b.Must(os.WriteFile(filepath.Join(cfg.StateDir, "vms", "sb_half.json.tmp"), []byte("{"), 0o600))
	f, err := os.OpenFile(filepath.Join(cfg.StateDir, "history.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	b.Must(err)
	_, err = f.WriteString(`{"seq":`)
	b.Must(errors.Join(err, f.Close()))
	for range 2 {
		b = simtest.Start(t, cfg)
		b.WantHistory(c.ID, "made claimed answered")
		b.Must(b.Close())
	}
	b.Must(os.WriteFile(filepath.Join(cfg.StateDir, "vms", c.ID+".json"), []byte("{"), 0o600))
	if _, err := sandboxdsim.New(cfg); err == nil || !strings.Contains(err.Error(), c.ID) {
		t.Errorf("a damaged VM file: %v", err)
	}
}

func TestAFullDiskFailsTheClaim(t *testing.T) {
	cfg := simtest.Config()
	b := simtest.Start(t, cfg)
	empty := host.FillDisk(b.Host)
	b.Want(500, "POST", "/v1/claim", simtest.RootToken, simtest.ClaimBody("a/b"))
	if i := b.Info(); i.Claimed != 0 || i.Pools[0].Warm != 2 {
		t.Errorf("info %+v", i)
	}
	empty()
	b.Claim(simtest.ClaimBody("a/b"))
	if c := b.History(history.Filter{}).Counters; c.Claimed != 1 || c.Made != 2 {
		t.Errorf("counters %+v", c)
	}
}

func TestAFullDiskFailsTheChangeOfPools(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	empty := host.FillDisk(b.Host)
	b.Want(500, "PUT", "/v1/pools", simtest.RootToken, `{"pools":[]}`)
	if p := b.Info().Pools; len(p) != 1 || p[0].Warm != 2 {
		t.Errorf("pools %+v", p)
	}
	empty()
	b.Want(200, "PUT", "/v1/pools", simtest.RootToken, `{"pools":[]}`)
}

func TestADamagedPoolsFileIsAnError(t *testing.T) {
	cfg := simtest.Config()
	cfg.StateDir = t.TempDir()
	b := simtest.Start(t, cfg)
	b.Want(200, "PUT", "/v1/pools", simtest.RootToken, `{"pools":[]}`)
	b.Must(b.Close())
	b.Must(os.WriteFile(filepath.Join(cfg.StateDir, "pools.json"), []byte("{"), 0o600))
	if _, err := sandboxdsim.New(cfg); err == nil || !strings.Contains(err.Error(), "pools.json") {
		t.Errorf("error %v", err)
	}
}
