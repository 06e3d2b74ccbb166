// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Exec runs a program on a host, with the caller's standard streams, and
// returns its exit code.
func (c *Cluster) Exec(ctx context.Context, host string, argv []string) (int, error) {
	info, err := c.running(ctx)
	if err != nil {
		return 0, err
	}
	if !slices.ContainsFunc(info.Hosts, func(h cluster.Host) bool { return h.Name == host }) {
		return 0, fmt.Errorf("the cluster has no host %q", host)
	}
	cmd := exec.CommandContext(ctx, "docker", append([]string{"exec", "-i", host}, argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cluster.ExitCode(cmd.Run())
}
