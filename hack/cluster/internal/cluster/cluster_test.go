// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestInfoFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, ErrNotUp) {
		t.Fatalf("Load without a file: %v", err)
	}
	want := &Info{Driver: "local", CIDR: "10.99.0.0/24", Hosts: []Host{{Name: "host-1", IP: "10.99.0.11", InitPID: 7}}}
	if err := want.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Load(dir)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Load: %+v, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files beside the one: %v, %v", entries, err)
	}
	if err := os.WriteFile(filepath.Join(dir, infoFile), []byte(`{"driver":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "cluster down") {
		t.Errorf("Load of half a file: %v", err)
	}
	for range 2 {
		if err := Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(dir); !errors.Is(err, ErrNotUp) {
		t.Errorf("Load after Remove: %v", err)
	}
}

// TestCheckDriver: another driver would take the cluster for gone, and leave
// it running.
func TestCheckDriver(t *testing.T) {
	dir := t.TempDir()
	if err := CheckDriver(dir, "kind"); err != nil {
		t.Errorf("no cluster: %v", err)
	}
	if err := (&Info{Driver: "kind"}).Save(dir); err != nil {
		t.Fatal(err)
	}
	if err := CheckDriver(dir, "kind"); err != nil {
		t.Errorf("the same: %v", err)
	}
	if err := CheckDriver(dir, "local"); err == nil || !strings.Contains(err.Error(), "CLUSTER=kind") {
		t.Errorf("another: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, infoFile), []byte(`{"driver":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckDriver(dir, "local"); err != nil {
		t.Errorf("half a file: %v", err)
	}
}

func TestOptions(t *testing.T) {
	program := filepath.Join(t.TempDir(), "sandboxd")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	plain := program + "-plain"
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := netip.MustParsePrefix("10.99.0.0/24")
	for name, test := range map[string]struct {
		options Options
		flag    string
	}{
		"smallest":            {Options{Hosts: 1, CIDR: good}, ""},
		"largest":             {Options{Hosts: 9, CIDR: netip.MustParsePrefix("10.99.0.32/27"), SandboxdBinary: program}, ""},
		"no host":             {Options{Hosts: 0, CIDR: good}, "--hosts"},
		"too many hosts":      {Options{Hosts: 10, CIDR: good}, "--hosts"},
		"too small a network": {Options{Hosts: 1, CIDR: netip.MustParsePrefix("10.99.0.0/28")}, "--cidr"},
		"address in network":  {Options{Hosts: 1, CIDR: netip.MustParsePrefix("10.99.0.1/24")}, "--cidr"},
		"IPv6":                {Options{Hosts: 1, CIDR: netip.MustParsePrefix("fd00::/64")}, "--cidr"},
		"no network":          {Options{Hosts: 1}, "--cidr"},
		"no such program":     {Options{Hosts: 1, CIDR: good, SandboxdBinary: program + "-none"}, "--sandboxd-bin"},
		"not executable":      {Options{Hosts: 1, CIDR: good, SandboxdBinary: plain}, "--sandboxd-bin"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.options.Complete()
			if test.flag == "" && err != nil {
				t.Fatal(err)
			}
			if test.flag != "" && (err == nil || !strings.Contains(err.Error(), test.flag)) {
				t.Errorf("error %v does not name %s", err, test.flag)
			}
		})
	}
}

func TestLockExcludes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "lock")
	unlock, err := Lock(t.Context(), file, func() { t.Error("waits for a free lock") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := 0
	if _, err := Lock(ctx, file, func() { waited++; cancel() }); !errors.Is(err, context.Canceled) || waited != 1 {
		t.Fatalf("second lock: %v, told %d times of waiting", err, waited)
	}
	unlock()
	again, err := Lock(t.Context(), file, func() { t.Error("waits for a lock that was given back") })
	if err != nil {
		t.Fatal(err)
	}
	again()
}
