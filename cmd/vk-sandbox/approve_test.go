// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const (
	elsewhereFile   = `{"claims":{"a/1":{"id":"sb_1","token":"SECRET-7f3a91","address":"h:1","podUID":"p"}},"place":{"cluster":"cluster-a","host":"host-1"}}`
	elsewhereReport = `{"state":"OtherCluster","recorded":{"cluster":"cluster-a","host":"host-1"},"present":{"cluster":"cluster-b","host":"host-1"}}`
)

// elsewhere is a table that the daemon does not accept, with what it found.
func elsewhere(t *testing.T, report string) (path string) {
	t.Helper()
	path = writeClaims(t, elsewhereFile)
	if report != "" {
		if err := os.WriteFile(path+claimfile.PlaceFileSuffix, []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func approveCommand(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, complaint bytes.Buffer
	if got := execute(append([]string{"approve"}, args...), environment(nil), &out, &complaint); got != code {
		t.Errorf("exit code %d, want %d; %s", got, code, &complaint)
	}
	return out.String(), complaint.String()
}

func approved(t *testing.T, path string, kind approval.Kind) (approval.Approval, bool) {
	t.Helper()
	a, found, err := approval.Read(claimfile.OS(), path, kind)
	if err != nil {
		t.Fatal(err)
	}
	return a, found
}

// The approval names what the operator was shown, and is for that alone.
func TestApprovePlace(t *testing.T) {
	path := elsewhere(t, elsewhereReport)
	stdout, _ := approveCommand(t, program.ExitOK, "place", "--state-path="+path)
	for _, want := range []string{"cluster cluster-a, host host-1", "cluster cluster-b, host host-1", "released", path + ".approval-place"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("printed %q, want %q in it", stdout, want)
		}
	}
	a, found := approved(t, path, approval.Place)
	if !found || a.At.IsZero() || a.Recorded != (claims.Place{Cluster: "cluster-a", Host: "host-1"}) || a.Present != (claims.Place{Cluster: "cluster-b", Host: "host-1"}) {
		t.Errorf("approval %+v, %v", a, found)
	}
}

func TestNothingToApprove(t *testing.T) {
	for name, report := range map[string]string{
		"no report":                "",
		"a report of another time": `{"state":"OtherCluster","recorded":{"cluster":"cluster-z"},"present":{"cluster":"cluster-b"}}`,
		"a report of no mismatch":  `{"state":"Accepted","recorded":{"cluster":"cluster-a","host":"host-1"},"present":{"cluster":"cluster-a","host":"host-1"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := elsewhere(t, report)
			stdout, _ := approveCommand(t, program.ExitOK, "--state-path", path, "place")
			if !strings.Contains(stdout, "Nothing to approve") || !strings.Contains(stdout, "cluster-a") {
				t.Errorf("printed %q", stdout)
			}
			if a, found := approved(t, path, approval.Place); found {
				t.Errorf("approval %+v", a)
			}
		})
	}
}

func TestApproveMissingOwners(t *testing.T) {
	path := elsewhere(t, "")
	approveCommand(t, program.ExitOK, "missing-owners", "--state-path", path)
	if a, found := approved(t, path, approval.MissingOwners); !found || a.At.IsZero() {
		t.Errorf("approval %+v, %v", a, found)
	}
	if a, found := approved(t, path, approval.Place); found {
		t.Errorf("approval of another kind: %+v", a)
	}
}

func TestApproveErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		code int
		says string
	}{
		"nothing":        {nil, program.ExitUsage, "place or missing-owners"},
		"something else": {[]string{"all"}, program.ExitUsage, `"all"`},
		"both":           {[]string{"place", "missing-owners"}, program.ExitUsage, `"missing-owners"`},
		"no table":       {[]string{"place", "--state-path", filepath.Join(t.TempDir(), "absent")}, program.ExitError, "--state-path is not the daemon's"},
		"no table, both": {[]string{"missing-owners", "--state-path", filepath.Join(t.TempDir(), "absent")}, program.ExitError, "--state-path is not the daemon's"},
		"damaged report": {[]string{"place", "--state-path", elsewhere(t, "{")}, program.ExitError, "restart the daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			stdout, stderr := approveCommand(t, tc.code, tc.args...)
			if stdout != "" || !strings.Contains(stderr, tc.says) {
				t.Errorf("printed %q and %q, want %q", stdout, stderr, tc.says)
			}
		})
	}
	if help, _ := approveCommand(t, program.ExitOK, "--help"); !strings.Contains(help, "missing-owners") || !strings.Contains(help, "VK_STATE_PATH") {
		t.Errorf("help %q", help)
	}
}

// The claims command shows the place, and why the daemon is not at work.
func TestClaimsShowThePlace(t *testing.T) {
	for name, tc := range map[string]struct {
		report string
		want   []string
		not    string
	}{
		"at home":   {"", []string{"The claims table belongs to cluster cluster-a, host host-1."}, "NOT ACCEPTED"},
		"elsewhere": {elsewhereReport, []string{"cluster cluster-a, host host-1", "NOT ACCEPTED HERE (OtherCluster)", "cluster cluster-b", "vk-sandbox approve place --state-path="}, "SECRET"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := claimsCommand(t, program.ExitOK, []string{"--state-path", elsewhere(t, tc.report)}, nil)
			for _, want := range append(tc.want, "sb_1") {
				if !strings.Contains(got, want) {
					t.Errorf("printed %q, want %q in it", got, want)
				}
			}
			if strings.Contains(got, tc.not) {
				t.Errorf("printed %q with %q", got, tc.not)
			}
		})
	}
	path := elsewhere(t, elsewhereReport)
	for format, decode := range map[string]func([]byte, any) error{
		"json": json.Unmarshal,
		"yaml": func(text []byte, into any) error { return yaml.UnmarshalStrict(text, into) },
	} {
		t.Run(format, func(t *testing.T) {
			got, _ := claimsCommand(t, program.ExitOK, []string{"--state-path", path, "-o", format}, nil)
			var r claimsReport
			if err := decode([]byte(got), &r); err != nil {
				t.Fatalf("%v in:\n%s", err, got)
			}
			if len(r.Claims) != 1 || r.Place == nil || r.Place.Cluster != "cluster-a" || r.NotAccepted == nil || r.NotAccepted.Present.Cluster != "cluster-b" ||
				r.NotAccepted.Accept != "vk-sandbox approve place --state-path="+path {
				t.Errorf("printed %s", got)
			}
		})
	}
}
