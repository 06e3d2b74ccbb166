// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The programs that "make build" has built, and their version.
var (
	binary  = flag.String("binary", "", "the program that make build has made")
	version = flag.String("version", "", "the version in it")
)

// root is the top folder of the project.
func root(t *testing.T) string {
	t.Helper()
	folder, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// install puts the daemon, its unit and its settings below folder.
func install(t *testing.T, folder string) {
	t.Helper()
	write(t, filepath.Join(folder, "usr/bin/vk-sandbox"), read(t, *binary), 0o755)
	for from, to := range map[string]string{
		"vk-sandbox.service":  "usr/lib/systemd/system/vk-sandbox.service",
		"vk-sandbox.sysusers": "usr/lib/sysusers.d/vk-sandbox.conf",
		"vk-sandbox.env":      "etc/vk-sandbox/vk-sandbox.env",
	} {
		write(t, filepath.Join(folder, to), read(t, filepath.Join(root(t), "packaging/systemd", from)), 0o644)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, file string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		t.Fatal(err)
	}
}

// run runs a program in the project's folder with additional environment variables. It
// returns the standard output.
func run(t *testing.T, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = root(t), append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// runCode runs a program in the project's folder and returns its output and exit code.
func runCode(t *testing.T, command ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = root(t)
	return exitCode(t, cmd)
}
