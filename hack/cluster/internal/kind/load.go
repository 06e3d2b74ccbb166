// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

// LoadImage makes an image and gives it to every node.
func (c *Cluster) LoadImage(ctx context.Context, spec image.Spec) error {
	if _, err := c.running(ctx); err != nil {
		return err
	}
	unlock, err := cluster.LockFolder(ctx, c.State, c.Progress)
	if err != nil {
		return err
	}
	defer unlock()
	archive := filepath.Join(c.State, "image.tar")
	defer os.Remove(archive)
	c.Progress.Expect(1)
	return c.Progress.Step(ctx, "make and load image "+spec.Name, func(ctx context.Context) error {
		if err := image.Write(spec, archive); err != nil {
			return err
		}
		_, err := c.Run(ctx, "", "kind", "load", "image-archive", archive, "--name", c.name())
		return err
	})
}
