// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The substitutes for the base images.
const (
	goImage     = "localhost/golang"
	staticImage = "localhost/static"
)

// buildah builds without an engine and without a registry. The substitute for the golang
// image has a shell and uses this machine's Go, modules and build cache. The substitute
// for the distroless base has the same user and temporary folder, and no shell.
type buildah struct {
	store  []string
	mounts []string
	// running has the container of each image that is run; what it writes is in /tmp.
	running map[string]string
}

func newBuildah(t *testing.T) *buildah {
	t.Helper()
	folder := t.TempDir()
	images := filepath.Join(folder, "images")
	b := &buildah{store: []string{"--root=" + images, "--runroot=" + filepath.Join(folder, "run")}, running: map[string]string{}}
	// The storage mounts what cleaning up could not remove.
	t.Cleanup(func() {
		for _, args := range [][]string{{"rm", "--all"}, {"rmi", "--all", "--force"}} {
			if output, err := exec.Command("buildah", slices.Concat(b.store, args)...).CombinedOutput(); err != nil {
				t.Errorf("buildah %s: %v\n%s", args[0], err, output)
			}
		}
		_ = exec.Command("umount", filepath.Join(images, "overlay")).Run() // a mount of its own, or none
	})
	goenv := strings.Split(strings.TrimSpace(run(t, nil, "go", "env", "GOROOT", "GOMODCACHE", "GOCACHE")), "\n")
	for i, target := range []string{"/usr/local/go:ro", "/go/pkg/mod:ro", "/go/cache"} {
		b.mounts = append(b.mounts, "--volume="+goenv[i]+":"+target)
	}
	// What the image's own "go mod download" has to find.
	run(t, nil, "go", "mod", "download")

	golang := t.TempDir()
	write(t, filepath.Join(golang, "bin/busybox"), read(t, "/bin/busybox"), 0o755)
	if err := os.Symlink("busybox", filepath.Join(golang, "bin/sh")); err != nil {
		t.Fatal(err)
	}
	for _, arch := range architectures() {
		// buildah takes the image of each stage for the architecture of the result,
		// but what is in this one runs here.
		b.commit(t, golang, goImage+"-"+arch, "--arch="+arch, "--env=PATH=/usr/local/go/bin:/bin", "--env=GOMODCACHE=/go/pkg/mod", "--env=GOCACHE=/go/cache",
			"--env=GOPROXY=off", "--env=GOTOOLCHAIN=local", "--env=HOME=/root")
	}
	static := t.TempDir()
	write(t, filepath.Join(static, "etc/passwd"), []byte("root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"), 0o644)
	for _, arch := range architectures() {
		b.commit(t, static, staticImage+"-"+arch, "--arch="+arch, "--user=65532", "--env=PATH=/usr/bin:/bin")
	}
	return b
}

// commit creates an image from a folder.
func (b *buildah) commit(t *testing.T, folder, name string, config ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	container := b.do(t, "from", "scratch")
	b.do(t, "copy", "--quiet", container, folder, "/")
	b.do(t, slices.Concat([]string{"config"}, config, []string{container})...)
	b.do(t, "commit", "--quiet", "--rm", container, name)
}

func (b *buildah) do(t *testing.T, args ...string) string {
	t.Helper()
	return strings.TrimSpace(run(t, nil, slices.Concat([]string{"buildah"}, b.store, args)...))
}

func (b *buildah) build(t *testing.T, name, arch string) string {
	t.Helper()
	args := append([]string{"bud", "--isolation=chroot", "--no-cache", "--timestamp=0", "--arch=" + arch}, b.mounts...)
	b.do(t, append(args, "--build-arg=VERSION="+*version, "--build-arg=TARGETOS=linux", "--build-arg=TARGETARCH="+arch, "--build-arg=BUILD_IMAGE="+goImage+"-"+arch,
		"--build-arg=BASE_IMAGE="+staticImage+"-"+arch, "--tag="+name, ".")...)
	return b.do(t, "inspect", "--type=image", "--format={{.FromImageID}}", name)
}

func (b *buildah) config(t *testing.T, name string) imageConfig {
	t.Helper()
	var image struct {
		OCIv1 struct {
			Architecture string
			Config       imageConfig
		}
	}
	if err := json.Unmarshal([]byte(b.do(t, "inspect", "--type=image", name)), &image); err != nil {
		t.Fatal(err)
	}
	image.OCIv1.Config.Architecture = image.OCIv1.Architecture
	return image.OCIv1.Config
}

func (b *buildah) program(t *testing.T, name string) []byte {
	t.Helper()
	container := b.do(t, "from", name)
	defer b.do(t, "rm", container)
	return read(t, filepath.Join(b.do(t, "mount", container), "vk-sandbox"))
}

func (b *buildah) run(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	if b.running[name] == "" {
		b.running[name] = b.do(t, "from", name)
	}
	command := append([]string{"run", "--isolation=chroot", b.running[name], "--"}, b.config(t, name).Entrypoint...)
	return exitCode(t, exec.CommandContext(t.Context(), "buildah", slices.Concat(b.store, command, args)...))
}
