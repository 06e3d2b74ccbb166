// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKo builds the image with ko and .ko.yaml, as a release does. It uses its own registry
// on loopback and a substitute for the distroless base.
func TestKo(t *testing.T) {
	r := serveRegistry(t)
	base := r.pushBase(t)
	build := func(repository string) string {
		env := []string{"VERSION=" + *version, "KO_DEFAULTBASEIMAGE=" + base, "KO_DOCKER_REPO=" + r.address + "/" + repository}
		return strings.TrimSpace(run(t, env, tool(t, "ko"), "build", "--bare", "--sbom=spdx", "--image-user=65532:65532", "./cmd/vk-sandbox"))
	}
	image := build("first")
	_, digest, _ := strings.Cut(image, "@")
	if _, again, _ := strings.Cut(build("second"), "@"); again != digest || digest == "" {
		t.Errorf("two builds give two images: %s and %s", digest, again)
	}
	if sbom := r.crane(t, "manifest", r.address+"/first:"+strings.ReplaceAll(digest, ":", "-")+".sbom"); !strings.Contains(sbom, "spdx") {
		t.Errorf("the image's SBOM is %s", sbom)
	}
	for _, arch := range architectures() {
		var config struct {
			Architecture string
			Config       imageConfig
		}
		if err := json.Unmarshal([]byte(r.crane(t, "config", "--platform=linux/"+arch, image)), &config); err != nil {
			t.Fatal(err)
		}
		if config.Architecture != arch || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/ko-app/vk-sandbox"}) {
			t.Errorf("%s: configuration %+v", arch, config)
		}
		file := filepath.Join(t.TempDir(), "image.tar")
		r.crane(t, "export", "--platform=linux/"+arch, image, file)
		checkProgram(t, arch, extract(t, file, "ko-app/vk-sandbox"))
	}
}

// TestBaseImages checks that the digests of base images are read from the registry, and
// that a release without them is refused.
func TestBaseImages(t *testing.T) {
	r := serveRegistry(t)
	base := r.pushBase(t)
	digest := strings.TrimSpace(r.crane(t, "digest", base))
	for name, line := range map[string]string{"Dockerfile": "ARG BASE_IMAGE=", ".ko.yaml": "defaultBaseImage: "} {
		file := filepath.Join(t.TempDir(), name)
		write(t, file, []byte("# a comment\n"+line+base+"\n"), 0o644)
		if output, code := runCode(t, "hack/update-base-images.sh", "--check", file); code == 0 || !strings.Contains(output, base+" has no digest") {
			t.Errorf("%s without a digest passes with code %d:\n%s", name, code, output)
		}
		for range 2 { // the second time the digest is replaced
			run(t, nil, "hack/update-base-images.sh", file)
			if got, want := string(read(t, file)), "# a comment\n"+line+base+"@"+digest+"\n"; got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		run(t, nil, "hack/update-base-images.sh", "--check", file)
	}
	run(t, nil, "hack/update-base-images.sh", "--check")
	bases := func(file, prefix string) string {
		for _, line := range strings.Split(string(read(t, filepath.Join(root(t), file))), "\n") {
			if base, found := strings.CutPrefix(line, prefix); found {
				return base
			}
		}
		t.Errorf("%s has no line %q", file, prefix)
		return ""
	}
	if docker, ko := bases("Dockerfile", "ARG BASE_IMAGE="), bases(".ko.yaml", "defaultBaseImage: "); docker != ko {
		t.Errorf("the Dockerfile's base is %s, and ko's %s", docker, ko)
	}
}

// checkProgram checks that the program is the one of make build, or one for the other
// architecture.
func checkProgram(t *testing.T, arch string, program []byte) {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	own, err := elf.Open(*binary)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]
	if file.Machine != want {
		t.Errorf("the program for %s is for %v", arch, file.Machine)
	}
	if file.Machine == own.Machine && !bytes.Equal(program, read(t, *binary)) {
		t.Error("the program is not the one that make build has made, byte for byte")
	}
}

// extract reads a file of a tar archive.
func extract(t *testing.T, archive, name string) []byte {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for r := tar.NewReader(f); ; {
		header, err := r.Next()
		if err != nil {
			t.Fatalf("find %s in %s: %v", name, archive, err)
		}
		if strings.TrimPrefix(header.Name, "/") == name {
			content, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}
