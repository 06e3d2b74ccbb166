// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"slices"
	"strings"
	"testing"
)

// TestImage builds the Dockerfile for both architectures and runs the image of this one.
func TestImage(t *testing.T) {
	e := findEngine(t)
	id := e.build(t, "vk-sandbox-first", "amd64")

	config := e.config(t, "vk-sandbox-first")
	if config.User != "65532:65532" || !slices.Equal(config.Entrypoint, []string{"/vk-sandbox"}) {
		t.Errorf("user %q, entrypoint %q", config.User, config.Entrypoint)
	}
	if config.Labels["org.opencontainers.image.version"] != *version {
		t.Errorf("labels %v lack the version %s", config.Labels, *version)
	}
	checkProgram(t, "amd64", e.program(t, "vk-sandbox-first"))

	for name, test := range map[string]struct {
		args []string
		code int
		want string
	}{
		"version":                  {[]string{"--version"}, 0, *version},
		"no cluster":               {nil, 1, "KUBECONFIG is not set"},
		"no claims table":          {[]string{"--state-path="}, 2, "--state-path"},
		"token file that is not":   {[]string{"--sandboxd-token-file=/none"}, 1, "/none"},
		"unknown flag":             {[]string{"--nod-name=a"}, 2, "--nod-name"},
		"argument that is no flag": {[]string{"serve"}, 2, "unexpected argument"},
	} {
		t.Run(name, func(t *testing.T) {
			output, code := e.run(t, "vk-sandbox-first", test.args...)
			if code != test.code || !strings.Contains(output, test.want) {
				t.Errorf("exit code %d, want %d; %q should be in:\n%s", code, test.code, test.want, output)
			}
		})
	}

	t.Run("again", func(t *testing.T) {
		if again := e.build(t, "vk-sandbox-second", "amd64"); again != id {
			t.Errorf("two builds give two images: %s and %s", id, again)
		}
	})
	t.Run("arm64", func(t *testing.T) {
		e.build(t, "vk-sandbox-arm64", "arm64")
		if arch := e.config(t, "vk-sandbox-arm64").Architecture; arch != "arm64" {
			t.Errorf("the image is for %s", arch)
		}
		checkProgram(t, "arm64", e.program(t, "vk-sandbox-arm64"))
	})
}
