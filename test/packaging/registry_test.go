// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// registry is an image registry in memory, on loopback.
type registry struct{ address string }

func serveRegistry(t *testing.T) registry {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tool(t, "crane"), "registry", "serve", "--address=127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	serving := regexp.MustCompile(`serving on port (\d+)`)
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if port := serving.FindStringSubmatch(lines.Text()); port != nil {
			go func() {
				for lines.Scan() { // so that it never waits for a reader
				}
			}()
			return registry{"127.0.0.1:" + port[1]}
		}
	}
	t.Fatal("the registry did not start")
	return registry{}
}

// pushBase pushes a substitute for the distroless base for every architecture.
func (r registry) pushBase(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write(t, filepath.Join(folder, "etc/passwd"), []byte("nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"), 0o644)
	layer := filepath.Join(t.TempDir(), "layer.tar")
	run(t, nil, "tar", "--create", "--file="+layer, "--directory="+folder, "etc")
	base := r.address + "/static:nonroot"
	args := []string{"index", "append", "--tag=" + base}
	for _, arch := range architectures() {
		image := r.address + "/static:" + arch
		r.crane(t, "append", "--oci-empty-base", "--new_layer="+layer, "--new_tag="+image)
		r.crane(t, "mutate", "--set-platform=linux/"+arch, "--user=65532", "--tag="+image, image)
		args = append(args, "--manifest="+image)
	}
	r.crane(t, args...)
	return base
}

func (registry) crane(t *testing.T, args ...string) string {
	t.Helper()
	return run(t, nil, append([]string{tool(t, "crane")}, args...)...)
}

// tool returns the path of a program of hack/release. Go builds it if it is not cached.
func tool(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(run(t, nil, "go", "tool", "-modfile=hack/release/go.mod", "-n", name))
}
