// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// LockFolder keeps two commands from changing the cluster of one state folder at once.
func LockFolder(ctx context.Context, state string, p *progress.Reporter) (unlock func(), err error) {
	return Lock(ctx, filepath.Join(state, "lock"), func() {
		p.Printf("waiting: another command is working on the cluster in %s", state)
	})
}

// IgnoreFolder keeps the state folder out of the repository that it may lie in.
func IgnoreFolder(state string) error {
	return WriteFile(filepath.Join(state, ".gitignore"), []byte("*\n"), 0o644)
}

// BinFolder is the part of a state folder that has the programs for users.
func BinFolder(state string) string { return filepath.Join(state, "bin") }

// LinkProgram puts a program for users into the state folder, and returns its path there.
func LinkProgram(state, name, target string) (string, error) {
	link := filepath.Join(BinFolder(state), name)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return "", err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return link, os.Symlink(target, link)
}

// EnsureToken makes a file with sandboxd's root token, unless it is there. All hosts share one, as the DaemonSet's
// Pods share one Secret.
func EnsureToken(file string) error {
	_, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return WriteFile(file, []byte(rand.Text()+"\n"), 0o600)
	}
	return err
}

// ExitCode returns the exit code of a program that has ended with this error. Another error is returned as it is.
func ExitCode(err error) (int, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// ReportUp says how to use a cluster that is up.
func ReportUp(p *progress.Reporter, state, kubeconfig string) {
	p.Printf("the cluster is up: export KUBECONFIG=%s PATH=%s:$PATH", kubeconfig, BinFolder(state))
}
