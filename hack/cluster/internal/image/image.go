// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package image makes container images from static programs, without a
// container engine or a registry.
package image

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Spec says what image to make.
type Spec struct {
	// Name is the image's reference, such as "vk-sandbox:dev".
	Name string
	// Binary is the file that becomes the image's only content.
	Binary string
	// Entrypoint is the absolute path of the binary in the image, and the
	// command that a container runs.
	Entrypoint string
}

// Write makes the image and writes it to file in the docker-archive layout,
// which both containerd and kind import. The same binary gives the same image.
func Write(spec Spec, file string) error {
	tag, err := name.NewTag(spec.Name)
	if err != nil {
		return fmt.Errorf("image name %q: %w", spec.Name, err)
	}
	img, err := build(spec)
	if err != nil {
		return fmt.Errorf("make image %s: %w", spec.Name, err)
	}
	if err := tarball.WriteToFile(file, tag, img); err != nil {
		return fmt.Errorf("write image %s: %w", spec.Name, err)
	}
	return nil
}

func build(spec Spec) (v1.Image, error) {
	if !path.IsAbs(spec.Entrypoint) || path.Clean(spec.Entrypoint) != spec.Entrypoint || spec.Entrypoint == "/" {
		return nil, fmt.Errorf("entrypoint %q must be a clean absolute path of a file", spec.Entrypoint)
	}
	architecture, err := staticArchitecture(spec.Binary)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(spec.Binary)
	if err != nil {
		return nil, err
	}
	archive, err := layerArchive(spec.Entrypoint, content)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archive)), nil
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", architecture
	config.Config.Entrypoint = []string{spec.Entrypoint}
	config.Config.WorkingDir = "/"
	return mutate.ConfigFile(img, config)
}

// staticArchitecture returns the architecture of a static Linux program. A
// program that needs a loader could not start in an image that has none.
func staticArchitecture(binary string) (string, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return "", fmt.Errorf("%s is not a Linux program: %w", binary, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return "", fmt.Errorf("%s is linked dynamically; build it with CGO_ENABLED=0", binary)
		}
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "amd64", nil
	case elf.EM_AARCH64:
		return "arm64", nil
	default:
		return "", fmt.Errorf("%s is built for %s; only x86-64 and arm64 are known here", binary, f.Machine)
	}
}

// layerArchive is a tar archive of the program, its parent folders and an empty
// /tmp.
func layerArchive(entrypoint string, content []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w := tar.NewWriter(&buffer)
	folders := []tar.Header{{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}}
	parts := strings.Split(strings.TrimPrefix(path.Dir(entrypoint), "/"), "/")
	for i := range parts {
		if folder := path.Join(parts[:i+1]...); folder != "" && folder != "tmp" {
			folders = append(folders, tar.Header{Name: folder + "/", Mode: 0o755, Typeflag: tar.TypeDir})
		}
	}
	for _, h := range folders {
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
	}
	file := tar.Header{
		Name: strings.TrimPrefix(entrypoint, "/"), Mode: 0o755, Typeflag: tar.TypeReg, Size: int64(len(content)),
	}
	if err := w.WriteHeader(&file); err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
