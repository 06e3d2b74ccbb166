// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// imageConfig is the checked part of an image's configuration.
type imageConfig struct {
	Architecture string // of the image, not in its configuration for containers
	User         string
	Entrypoint   []string
	Labels       map[string]string
}

// architectures are the released architectures.
func architectures() []string { return []string{"amd64", "arm64"} }

// engine builds images from the Dockerfile, and runs them.
type engine interface {
	// build makes the image for an architecture, without any cache of layers, and
	// returns the digest of its configuration, which follows from all its content.
	build(t *testing.T, name, arch string) string
	config(t *testing.T, name string) imageConfig
	// program is the file /vk-sandbox of the image.
	program(t *testing.T, name string) []byte
	// run runs the image's own command with args as the image's own user, and
	// returns what it printed and its exit code.
	run(t *testing.T, name string, args ...string) (string, int)
}

// findEngine returns Docker with the Dockerfile's base images if it runs, otherwise buildah
// with substitute base images.
func findEngine(t *testing.T) engine {
	t.Helper()
	if exec.CommandContext(t.Context(), "docker", "info").Run() == nil {
		return docker{}
	}
	return newBuildah(t)
}

type docker struct{}

func (docker) build(t *testing.T, name, arch string) string {
	t.Helper()
	run(t, []string{"DOCKER_BUILDKIT=1", "SOURCE_DATE_EPOCH=0"}, "docker", "build", "--no-cache", "--provenance=false",
		"--platform=linux/"+arch, "--build-arg=VERSION="+*version, "--tag="+name, ".")
	t.Cleanup(func() { _ = exec.Command("docker", "image", "rm", name).Run() }) // a left-over does no harm
	// The content of a layer, and not the time at which it was made.
	return run(t, nil, "docker", "image", "inspect", "--format={{json .RootFS.Layers}}", name)
}

func (docker) config(t *testing.T, name string) imageConfig {
	t.Helper()
	var c imageConfig
	text := run(t, nil, "docker", "image", "inspect", "--format={{json .Config}}", name)
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	c.Architecture = strings.TrimSpace(run(t, nil, "docker", "image", "inspect", "--format={{.Architecture}}", name))
	return c
}

func (docker) program(t *testing.T, name string) []byte {
	t.Helper()
	file := t.TempDir() + "/vk-sandbox"
	container := strings.TrimSpace(run(t, nil, "docker", "create", name))
	run(t, nil, "docker", "cp", container+":/vk-sandbox", file)
	run(t, nil, "docker", "rm", container)
	return read(t, file)
}

func (docker) run(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	return exitCode(t, exec.CommandContext(t.Context(), "docker", append([]string{"run", "--rm", "--network=none", name}, args...)...))
}

// exitCode runs a command and returns what it printed and its exit code.
func exitCode(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(output), cmd.ProcessState.ExitCode()
}
