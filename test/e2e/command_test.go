// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
)

func (s *suite) kubectl(ctx context.Context, args ...string) (string, error) {
	return run(ctx, s.info.Kubectl, append([]string{"--kubeconfig=" + s.info.Kubeconfig}, args...)...)
}

func (s *suite) helm(ctx context.Context, args ...string) (string, error) {
	return run(ctx, s.info.Helm, append([]string{"--kubeconfig=" + s.info.Kubeconfig}, args...)...)
}

// run returns the standard output of a program. The error contains its standard error.
func run(ctx context.Context, program string, args ...string) (string, error) {
	var out, complaint bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, complaint.String())
	}
	return out.String(), nil
}
