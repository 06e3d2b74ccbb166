// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// program writes the header of an ELF program with one segment.
func program(t *testing.T, machine elf.Machine, segment elf.ProgType) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	err = errors.Join(
		binary.Write(f, binary.LittleEndian, header),
		binary.Write(f, binary.LittleEndian, elf.Prog64{Type: uint32(segment)}),
		f.Close(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWrite(t *testing.T) {
	spec := Spec{Name: "vk-sandbox:dev", Binary: program(t, elf.EM_AARCH64, elf.PT_LOAD), Entrypoint: "/usr/bin/vk-sandbox"}
	file := filepath.Join(t.TempDir(), "image.tar")
	if err := Write(spec, file); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(spec.Name)
	if err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(file, &tag)
	if err != nil {
		t.Fatalf("the archive has no image of that name: %v", err)
	}
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Architecture != "arm64" || !reflect.DeepEqual(config.Config.Entrypoint, []string{spec.Entrypoint}) {
		t.Errorf("configuration: %+v", config)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers: %v, %v", layers, err)
	}
	content, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	var names []string
	for r := tar.NewReader(content); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Name == "usr/bin/vk-sandbox" && (h.Mode != 0o755 || h.Size != 120) {
			t.Errorf("program: mode %o, size %d", h.Mode, h.Size)
		}
	}
	if want := []string{"tmp/", "usr/", "usr/bin/", "usr/bin/vk-sandbox"}; !reflect.DeepEqual(names, want) {
		t.Errorf("content %v, want %v", names, want)
	}
	again := file + "-again"
	if err := Write(spec, again); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(file)
	second, _ := os.ReadFile(again)
	if string(first) != string(second) {
		t.Error("the same program gives two images")
	}
}

func TestWriteRefuses(t *testing.T) {
	static := program(t, elf.EM_X86_64, elf.PT_LOAD)
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		spec Spec
		says string
	}{
		"dynamic program":      {Spec{"a:b", program(t, elf.EM_X86_64, elf.PT_INTERP), "/a"}, "CGO_ENABLED=0"},
		"script":               {Spec{"a:b", script, "/a"}, "not a Linux program"},
		"no such file":         {Spec{"a:b", static + "-none", "/a"}, "no such file"},
		"other architecture":   {Spec{"a:b", program(t, elf.EM_RISCV, elf.PT_LOAD), "/a"}, "EM_RISCV"},
		"relative entrypoint":  {Spec{"a:b", static, "a"}, "entrypoint"},
		"unclean entrypoint":   {Spec{"a:b", static, "/a/../b"}, "entrypoint"},
		"folder as entrypoint": {Spec{"a:b", static, "/"}, "entrypoint"},
		"bad name":             {Spec{"A B", static, "/a"}, "image name"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Write(test.spec, filepath.Join(t.TempDir(), "image.tar"))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v does not say %q", err, test.says)
			}
		})
	}
}
