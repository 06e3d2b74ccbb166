// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Down deletes the cluster, or what a failed Up left of one, and does nothing
// where there is nothing.
func (c *Cluster) Down(ctx context.Context) error {
	unlock, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	c.Progress.Expect(1)
	return c.Progress.Step(ctx, "delete the kind cluster "+c.name(), func(ctx context.Context) error {
		if err := c.remove(ctx); err != nil {
			return err
		}
		return errors.Join(cluster.Remove(c.State), os.RemoveAll(c.kubeconfig()), os.RemoveAll(c.tokenFile()),
			os.RemoveAll(cluster.BinFolder(c.State)))
	})
}

func (c *Cluster) remove(ctx context.Context) error {
	_, err := c.Run(ctx, "", "kind", "delete", "cluster", "--name", c.name(), "--kubeconfig", c.kubeconfig())
	return err
}
