// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const claimsFile = `{"claims":{
  "team-red/b":{"id":"sb_2","token":"SECRET-7f3a91","address":"10.0.0.5:7777","podUID":"p2","claimedAt":"2026-07-27T02:15:00Z",
    "deadline":"2026-07-28T02:15:00Z","controller":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"b","uid":"u2"}},
  "team-red/a":{"id":"sb_1","token":"SECRET-7f3a91","address":"","podUID":"p1","later":"SECRET-7f3a91",
    "owner":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"a","uid":"u1"}},
  "team-red/web-x2b4k":{"id":"sb_4","token":"SECRET-7f3a91","podUID":"p4","randomName":true,"podDeletedAt":"2026-07-27T03:15:00Z",
    "owner":{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u4"}}},
 "releasing":[{"id":"sb_3\u001b[2J","token":"SECRET-7f3a91","address":"10.0.0.5:7777","podUID":"p3","key":"team-red/c"}]}`

// claimsCommand runs the command and returns what it prints.
func claimsCommand(t *testing.T, code int, args []string, vars map[string]string) (stdout, stderr string) {
	t.Helper()
	var out, complaint bytes.Buffer
	if got := execute(append([]string{"claims"}, args...), environment(vars), &out, &complaint); got != code {
		t.Errorf("exit code %d, want %d; %s", got, code, &complaint)
	}
	for _, text := range []string{out.String(), complaint.String()} {
		if strings.Contains(text, "SECRET") {
			t.Errorf("a token was printed: %s", text)
		}
	}
	return out.String(), complaint.String()
}

func writeClaims(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "claims.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestClaimsAsTable(t *testing.T) {
	path := writeClaims(t, claimsFile)
	const want = `POD          STATE       ID          ADDRESS          OWNER       CLAIMED                DEADLINE
team-red/c   Releasing   sb_3?[2J    10.0.0.5:7777    <none>      <none>                 <none>
team-red/a   Preserved   sb_1        <none>           Sandbox/a   <none>                 <none>
team-red/web-x2b4k   Preserved (unadoptable)   sb_4   <none>   ReplicaSet/web   <none>   <none>
team-red/b   Bound       sb_2        10.0.0.5:7777    Sandbox/b   2026-07-27T02:15:00Z   2026-07-28T02:15:00Z
`
	for name, tc := range map[string]struct {
		args []string
		vars map[string]string
	}{
		"flag":          {[]string{"--state-path=" + path}, nil},
		"variable":      {nil, map[string]string{"VK_STATE_PATH": path}},
		"flag wins":     {[]string{"--state-path", path}, map[string]string{"VK_STATE_PATH": "/nowhere"}},
		"output, long":  {[]string{"--state-path", path, "--output=table"}, nil},
		"output, short": {[]string{"--state-path", path, "-o", "table"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := claimsCommand(t, program.ExitOK, tc.args, tc.vars)
			if diff := cmp.Diff(squeeze(want), squeeze(got)); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
	empty, _ := claimsCommand(t, program.ExitOK, []string{"--state-path", writeClaims(t, `{"claims":{}}`)}, nil)
	if empty != "No claims.\n" {
		t.Errorf("an empty table prints %q", empty)
	}
}

// squeeze makes the width of columns not matter.
func squeeze(table string) []string {
	var out []string
	for line := range strings.Lines(table) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

func TestClaimsAsObjects(t *testing.T) {
	path := writeClaims(t, claimsFile)
	for format, decode := range map[string]func([]byte, any) error{
		"json": json.Unmarshal,
		"yaml": func(text []byte, into any) error { return yaml.UnmarshalStrict(text, into) },
	} {
		t.Run(format, func(t *testing.T) {
			got, _ := claimsCommand(t, program.ExitOK, []string{"--state-path", path, "-o", format}, nil)
			var s api.NodeClaimStatusStatus
			if err := decode([]byte(got), &s); err != nil {
				t.Fatalf("%v in:\n%s", err, got)
			}
			if len(s.Claims) != 4 || s.Claims[1].Owner.Name != "a" || !s.Claims[2].Unadoptable || s.Claims[3].Deadline.IsZero() {
				t.Errorf("claims %+v", s.Claims)
			}
			if want := (&api.ClaimCounts{Bound: 1, Preserved: 2, Unadoptable: 1, Releasing: 1, Attention: 1}); !cmp.Equal(want, s.Counts) {
				t.Errorf("counts %+v", s.Counts)
			}
		})
	}
}

// A running daemon and the command do not affect each other.
func TestClaimsBesideADaemon(t *testing.T) {
	path := writeClaims(t, claimsFile)
	lock, err := claimfile.Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Unlock(); err != nil {
			t.Error(err)
		}
	})
	before, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	claimsCommand(t, program.ExitOK, []string{"--state-path", path}, nil)
	after, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(after) != len(before) {
		t.Errorf("files %v became %v, %v", before, after, err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != claimsFile {
		t.Errorf("the table is now %q, %v", text, err)
	}
}

func TestClaimsErrors(t *testing.T) {
	dir := t.TempDir()
	for name, tc := range map[string]struct {
		args []string
		vars map[string]string
		code int
		says []string
	}{
		"no file":      {[]string{"--state-path", dir + "/absent"}, nil, program.ExitError, []string{dir + "/absent", "--state-path is not the daemon's"}},
		"a directory":  {[]string{"--state-path", dir}, nil, program.ExitError, []string{dir}},
		"damaged":      {[]string{"--state-path", writeClaims(t, claimsFile[:200])}, nil, program.ExitError, []string{"not a claims table", "claims.json"}},
		"empty":        {[]string{"--state-path", writeClaims(t, "")}, nil, program.ExitError, []string{"not a claims table"}},
		"no path":      {[]string{"--state-path="}, nil, program.ExitUsage, []string{"--state-path"}},
		"bad format":   {[]string{"-o", "xml"}, nil, program.ExitUsage, []string{"table, json or yaml"}},
		"unknown flag": {[]string{"--node-name=x"}, nil, program.ExitUsage, []string{"--node-name", "--help"}},
		"an argument":  {[]string{"all"}, nil, program.ExitUsage, []string{`"all"`}},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := claimsCommand(t, tc.code, tc.args, tc.vars)
			if stdout != "" {
				t.Errorf("printed %q", stdout)
			}
			for _, want := range tc.says {
				if !strings.Contains(stderr, want) {
					t.Errorf("complained %q, want %q in it", stderr, want)
				}
			}
		})
	}
	if err := withClaimsHint(os.ErrPermission); !errors.Is(err, os.ErrPermission) || !strings.Contains(err.Error(), "as root") {
		t.Errorf("the hint for a file that may not be read is %q", err)
	}
}

func TestClaimsHelp(t *testing.T) {
	for _, flag := range []string{"--help", "-h"} {
		got, _ := claimsCommand(t, program.ExitOK, []string{flag, "-o", "table"}, nil)
		for _, want := range []string{"--state-path", "VK_STATE_PATH", "--output", "without their release tokens"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s prints %q, want %q in it", flag, got, want)
			}
		}
	}
}
