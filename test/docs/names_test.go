// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFilesOfTheArchitecture checks that each file in the walk of a claim exists below
// pkg.
func TestFilesOfTheArchitecture(t *testing.T) {
	files := regexp.MustCompile("`([a-z]+(?:/[a-z]+)+\\.go)`").FindAllStringSubmatch(text(t, "docs/architecture.md"), -1)
	if len(files) == 0 {
		t.Fatal("docs/architecture.md names no file")
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, "pkg", file[1])); err != nil {
			t.Errorf("docs/architecture.md: %v", err)
		}
	}
}

// TestNamesOfTests checks that each test and test file on the testing page exists.
func TestNamesOfTests(t *testing.T) {
	known := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test[A-Z][A-Za-z0-9]*)\(`)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range declared.FindAllStringSubmatch(string(content), -1) {
			known[match[1]] = true
		}
		known[entry.Name()] = true
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]*|[a-z]+_test\\.go)`").FindAllStringSubmatch(text(t, "docs/testing.md"), -1) {
		if !known[match[1]] {
			t.Errorf("docs/testing.md names %s, which does not exist", match[1])
		}
	}
}
