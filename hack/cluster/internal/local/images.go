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

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
)

// LoadImage makes an image and gives it to the containerd of every host.
func (c *Cluster) LoadImage(ctx context.Context, spec image.Spec) error {
	unlock, err := cluster.LockFolder(ctx, c.paths.State, c.progress)
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
			in, err := c.namespaces(layout.HostAddress(network, n+1))
			if err != nil {
				return err
			}
			if in == nil {
				return fmt.Errorf(`host %s does not run; start it again with "cluster up"`, h.Name)
			}
			layers, err := programs.Snapshotter(h.HostPathRoot)
			if err != nil {
				return err
			}
			return c.importImage(ctx, h.Name, in, layers, archive)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeImage makes an image and returns the file that holds it.
func (c *Cluster) writeImage(spec image.Spec) (string, error) {
	if err := os.MkdirAll(c.paths.Images(), 0o755); err != nil {
		return "", err
	}
	name := strings.NewReplacer("/", "_", ":", "_").Replace(spec.Name)
	archive := filepath.Join(c.paths.Images(), name+".tar")
	// By way of another name: half an archive must not look like one.
	defer os.Remove(archive + ".partial")
	if err := image.Write(spec, archive+".partial"); err != nil {
		return "", err
	}
	return archive, os.Rename(archive+".partial", archive)
}

// importImages gives a host's containerd every image that was made for the
// cluster, as far as the host does not have it: a host can be added later.
func (c *Cluster) importImages(ctx context.Context, host string, in *process.Namespaces, snapshotter string) error {
	archives, err := filepath.Glob(filepath.Join(c.paths.Images(), "*.tar"))
	if err != nil {
		return err
	}
	for _, archive := range archives {
		digest, err := process.DigestFiles([]string{archive})
		if err != nil {
			return err
		}
		if has, err := os.ReadFile(c.paths.Host(host).Imported(archive)); err == nil && string(has) == digest {
			continue
		}
		if err := c.importImage(ctx, host, in, snapshotter, archive); err != nil {
			return err
		}
	}
	return nil
}

// importImage gives an archive to a host's containerd, where kubelet looks, and
// notes that it did.
func (c *Cluster) importImage(ctx context.Context, host string, in *process.Namespaces, snapshotter, archive string) error {
	digest, err := process.DigestFiles([]string{archive})
	if err != nil {
		return err
	}
	if err := in.Run(ctx, "ctr", "--address="+layout.ContainerdSocket, "--namespace=k8s.io",
		"image", "import", "--snapshotter="+snapshotter, archive); err != nil {
		return err
	}
	return cluster.WriteFile(c.paths.Host(host).Imported(archive), []byte(digest), 0o644)
}
