// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExitCodes(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	state := "--state-path=" + filepath.Join(dir, "claims.json")
	for name, tc := range map[string]struct {
		args   []string
		vars   map[string]string
		code   int
		stdout string
		stderr string
	}{
		"help":                    {[]string{"--help"}, nil, 0, "VK_STATE_PATH", ""},
		"help, short":             {[]string{"-h"}, nil, 0, "--state-path", ""},
		"help despite the rest":   {[]string{"--help", "x"}, map[string]string{"VK_LOG_LEVEL": "x"}, 0, "Usage:", ""},
		"version":                 {[]string{"--version"}, nil, 0, "v9.9.9\n", ""},
		"version despite a level": {[]string{"--version"}, map[string]string{"VK_LOG_LEVEL": "x"}, 0, "v9.9.9\n", ""},
		"unknown flag":            {[]string{"--nope"}, nil, 2, "", "--nope"},
		"positional argument":     {[]string{"serve"}, nil, 2, "", `"serve"`},
		"bad flag":                {[]string{"--node-cpu=x"}, nil, 2, "", "--node-cpu"},
		"bad variable":            {nil, map[string]string{"VK_NODE_CPU": "x"}, 2, "", "VK_NODE_CPU"},
		"unknown log level":       {nil, map[string]string{"VK_LOG_LEVEL": "loud"}, 2, "", "VK_LOG_LEVEL"},
		"no state path":           {[]string{"--state-path="}, nil, 2, "", "--state-path"},
		"profiles nowhere":        {[]string{"--enable-pprof"}, map[string]string{"VK_METRICS_ADDR": "0"}, 2, "", "--metrics-addr (from VK_METRICS_ADDR)"},
		"no token file":           {[]string{state, "--sandboxd-token-file=" + dir + "/absent"}, nil, 1, "", "--sandboxd-token-file"},
		"empty token file":        {[]string{state}, map[string]string{"SANDBOXD_TOKEN_FILE": empty}, 1, "", "(from SANDBOXD_TOKEN_FILE)"},
		"no cluster":              {[]string{state}, nil, 1, "", "KUBECONFIG is not set"},
		"no kubeconfig":           {[]string{state}, map[string]string{"KUBECONFIG": dir + "/absent"}, 1, "", "kubeconfig at KUBECONFIG"},
	} {
		t.Run(name, func(t *testing.T) {
			version = "v9.9.9"
			t.Cleanup(func() { version = "" })
			var stdout, stderr bytes.Buffer
			if code := execute(tc.args, environment(tc.vars), &stdout, &stderr); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout = %q, want %q in it", &stdout, tc.stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr = %q, want %q in it", &stderr, tc.stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, "claims.json")); err == nil {
				t.Error("a failed start wrote the claims table")
			}
		})
	}
}

// writeKubeconfig names an API server that nobody runs.
func writeKubeconfig(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(path, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",`+
		`"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1"}}],"contexts":[{"name":"c","context":{"cluster":"c"}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTableErrorsNameTheFlag(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	dir := t.TempDir()
	kubeconfig := writeKubeconfig(t, dir)
	malformed := filepath.Join(dir, "claims.json")
	if err := os.WriteFile(malformed, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		path string
	}{
		"malformed":       {malformed},
		"in no directory": {filepath.Join(malformed, "claims.json")},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			vars := map[string]string{"VK_STATE_PATH": tc.path, "KUBECONFIG": kubeconfig}
			if code := execute([]string{"--metrics-addr=0"}, environment(vars), &stdout, &stderr); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			if want := "--state-path (from VK_STATE_PATH)"; !strings.Contains(stderr.String(), want) {
				t.Errorf("stderr = %q, want %q in it", &stderr, want)
			}
			if kept, err := os.ReadFile(malformed); err != nil || string(kept) != "{" {
				t.Errorf("the malformed table is now %q, %v", kept, err)
			}
		})
	}
}

func TestHelpNamesEverySetting(t *testing.T) {
	text := usage()
	for _, s := range settings(&options{}) {
		if s.flag != "" && !strings.Contains(text, "--"+s.flag+" ") {
			t.Errorf("the help text lacks --%s", s.flag)
		}
		if !strings.Contains(text, s.env) {
			t.Errorf("the help text lacks %s", s.env)
		}
		if !strings.Contains(text, s.group+":\n") {
			t.Errorf("the help text lacks the group %s", s.group)
		}
	}
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 110 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}

func TestBuildVersion(t *testing.T) {
	version = "v1.2.3"
	if got := buildVersion(); got != "v1.2.3" {
		t.Errorf("buildVersion() = %q, want the linker's", got)
	}
	version = ""
	if got := buildVersion(); got == "" {
		t.Error("buildVersion() is empty without the linker's")
	}
}
