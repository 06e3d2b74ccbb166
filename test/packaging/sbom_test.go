// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSBOM compares the SBOM with the module list in the program.
func TestSBOM(t *testing.T) {
	folder := t.TempDir()
	first, second := filepath.Join(folder, "first.json"), filepath.Join(folder, "second.json")
	for _, file := range []string{first, second} {
		run(t, nil, "hack/sbom.sh", *binary, file)
	}
	if !bytes.Equal(read(t, first), read(t, second)) {
		t.Error("the same program gives two SBOMs")
	}
	var sbom struct {
		BomFormat  string
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(read(t, first), &sbom); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(*binary)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[string]string{"std": info.GoVersion}, map[string]string{}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		want[module.Path] = module.Version
	}
	for _, c := range sbom.Components {
		got[c.Name] = c.Version
	}
	if diff := cmp.Diff(want, got); diff != "" || sbom.BomFormat != "CycloneDX" {
		t.Errorf("%s SBOM (-program +SBOM):\n%s", sbom.BomFormat, diff)
	}
}
