// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
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
		"version as a command":    {[]string{"version"}, map[string]string{"VK_LOG_LEVEL": "x"}, 0, "v9.9.9\n", ""},
		"version of something":    {[]string{"version", "x"}, nil, 2, "", `"x"`},
		"help as a command":       {[]string{"help"}, nil, 0, "VK_STATE_PATH", ""},
		"help for a command":      {[]string{"help", "claims"}, nil, 0, "--output", ""},
		"completion":              {[]string{"completion", "bash"}, nil, 0, "vk-sandbox", ""},
		"run, unknown flag":       {[]string{"run", "--nope"}, nil, 2, "", "vk-sandbox run --help"},
		"run, bad flag":           {[]string{"run", "--node-cpu=x"}, nil, 2, "", "--node-cpu"},
		"run, no cluster":         {[]string{"run", state}, nil, 1, "", "KUBECONFIG is not set"},
		"a command after a flag":  {[]string{"--node-name=x", "claims"}, nil, 2, "", "--node-name"},
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

// usage returns the help text.
func usage(t *testing.T, command ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := execute(append(command, "--help"), environment(nil), &stdout, &stderr); code != program.ExitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d, complained %q", code, &stderr)
	}
	return stdout.String()
}

func TestHelpNamesEverySetting(t *testing.T) {
	for _, command := range [][]string{nil, {"run"}} {
		text := usage(t, command...)
		for _, s := range daemonSettings() {
			if s.flag != "" && !regexp.MustCompile("  --"+s.flag+`[ \[]`).MatchString(strings.ReplaceAll(text, ", --", "  --")) {
				t.Errorf("the help text lacks --%s", s.flag)
			}
			if !strings.Contains(text, s.env) {
				t.Errorf("the help text lacks %s", s.env)
			}
			if !strings.Contains(strings.ToLower(text), strings.ToLower(s.group)+" flags:\n") {
				t.Errorf("the help text lacks the group %s", s.group)
			}
		}
		for _, line := range strings.Split(text, "\n") {
			if len(line) > 110 {
				t.Errorf("line of %d characters: %s", len(line), line)
			}
		}
	}
}

func TestHelpNamesEveryCommand(t *testing.T) {
	for _, name := range []string{"run", "claims", "approve", "check", "version", "help", "completion"} {
		if !strings.Contains(usage(t), "\n  "+name+" ") {
			t.Errorf("the help text lacks %s", name)
		}
		if text := usage(t, name); !strings.Contains(text, "vk-sandbox "+name) {
			t.Errorf("the help of %s is %q", name, text)
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
