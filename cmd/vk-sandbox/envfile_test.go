// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEnvironmentFile compares the template of the systemd unit's EnvironmentFile
// with the settings: each variable is there once, as a comment with its default.
func TestEnvironmentFile(t *testing.T) {
	template, err := os.ReadFile("../../packaging/systemd/vk-sandbox.env")
	if err != nil {
		t.Fatal(err)
	}
	commented := map[string]string{}
	var set []string
	line := regexp.MustCompile(`^(#?)([A-Z][A-Z_]*)=(.*)$`)
	for _, text := range strings.Split(string(template), "\n") {
		found := line.FindStringSubmatch(text)
		switch {
		case found == nil && text != "" && !strings.HasPrefix(text, "# "):
			t.Errorf("%q is neither a setting nor a comment", text)
		case found == nil:
		case found[1] == "":
			set = append(set, text)
		default:
			if _, twice := commented[found[2]]; twice {
				t.Errorf("%s is there twice", found[2])
			}
			commented[found[2]] = found[3]
		}
	}
	if want := "KUBECONFIG=/etc/vk-sandbox/kubeconfig"; len(set) != 1 || set[0] != want {
		t.Errorf("set are %q, want %q alone", set, want)
	}
	for _, s := range daemonSettings() {
		if s.env == "" {
			continue
		}
		value, there := commented[s.env]
		if !there || value != s.fallback {
			t.Errorf("%s: %q (there: %v), want its default %q", s.env, value, there, s.fallback)
		}
		delete(commented, s.env)
	}
	// Read by the unit, for flags that have no variable.
	delete(commented, "VK_SANDBOX_ARGS")
	for name := range commented {
		t.Errorf("%s is no variable of the daemon", name)
	}
}
