// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

func TestTheStateFolder(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	if err := IgnoreFolder(state); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/bin/false", "/bin/true"} {
		link, err := LinkProgram(state, "kubectl", target)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.Readlink(link); err != nil || got != target || link != filepath.Join(BinFolder(state), "kubectl") {
			t.Errorf("%s leads to %s, %v; want %s", link, got, err, target)
		}
	}
}

func TestATokenIsMadeOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config", "token")
	var tokens []string
	for range 2 {
		if err := EnsureToken(file); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, string(content))
	}
	if len(tokens[0]) < 20 || tokens[0] != tokens[1] {
		t.Errorf("tokens %q", tokens)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
}

func TestLockFolderSaysWhyItWaits(t *testing.T) {
	state := t.TempDir()
	file, err := os.Create(filepath.Join(state, "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	said := func() string {
		content, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	p := progress.New(file)
	unlock, err := LockFolder(t.Context(), state, p)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LockFolder(ctx, state, p); !errors.Is(err, context.Canceled) || !strings.Contains(said(), state) {
		t.Errorf("error %v, said %q", err, said())
	}
	ReportUp(p, state, "the-kubeconfig")
	if want := "export KUBECONFIG=the-kubeconfig PATH=" + BinFolder(state); !strings.Contains(said(), want) {
		t.Errorf("said %q, want %q in it", said(), want)
	}
}

func TestExitCode(t *testing.T) {
	if code, err := ExitCode(exec.CommandContext(t.Context(), "sh", "-c", "exit 7").Run()); err != nil || code != 7 {
		t.Errorf("code %d, %v; want 7", code, err)
	}
	if code, err := ExitCode(nil); err != nil || code != 0 {
		t.Errorf("code %d, %v; want 0", code, err)
	}
	if _, err := ExitCode(context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the one that was given", err)
	}
}
