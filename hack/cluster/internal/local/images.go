// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

// LoadImage makes an image and gives it to the containerd of every host.
func (c *Cluster) LoadImage(ctx context.Context, spec image.Spec) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	info, network, err := c.running()
	if err != nil {
		return err
	}
	c.progress.Expect(1 + len(info.Hosts))
	var archive string
	err = c.progress.Step(ctx, "make image "+spec.Name, func(context.Context) error {
		archive, err = c.writeImage(spec)
		return err
	})
	if err != nil {
		return err
	}
	for n, h := range info.Hosts {
		err := c.progress.Step(ctx, "load image "+spec.Name+" on "+h.Name, func(ctx context.Context) error {
			in, err := c.namespaces(hostAddress(network, n+1))
			if err != nil {
				return err
			}
			if in == nil {
				return fmt.Errorf(`host %s does not run; start it again with "cluster up"`, h.Name)
			}
			layers, err := snapshotter(h.HostPathRoot)
			if err != nil {
				return err
			}
			return importImage(ctx, in, layers, archive)
		})
		if err != nil {
			return err
		}
	}
	return os.Remove(archive)
}

// writeImage makes an image and returns the file that holds it.
func (c *Cluster) writeImage(spec image.Spec) (string, error) {
	if err := os.MkdirAll(c.paths.images(), 0o755); err != nil {
		return "", err
	}
	name := strings.NewReplacer("/", "_", ":", "_").Replace(spec.Name)
	archive := filepath.Join(c.paths.images(), name+".tar")
	return archive, image.Write(spec, archive)
}

// importImage gives an archive to a host's containerd, where kubelet looks.
func importImage(ctx context.Context, in *namespaces, snapshotter, archive string) error {
	return in.run(ctx, "ctr", "--address="+containerdSocket, "--namespace=k8s.io",
		"image", "import", "--snapshotter="+snapshotter, archive)
}
