// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	var lines []string
	for i := range 5000 {
		lines = append(lines, strings.Repeat("x", 20)+" "+string(rune('a'+i%26)))
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := tail(file)
	if want := strings.Join(lines[len(lines)-tailLines:], "\n"); err != nil || got != want {
		t.Errorf("tail: %v\n%s", err, got)
	}
	if _, err := tail(file + "-none"); err == nil {
		t.Error("no error for a log that is not there")
	}
}
