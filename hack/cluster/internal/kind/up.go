// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

// Up creates the cluster, unless it is there with the same number of hosts.
func (c *Cluster) Up(ctx context.Context, o cluster.Options) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	if err := cluster.WriteFile(filepath.Join(c.State, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return err
	}
	there, err := c.exists(ctx)
	if err != nil {
		return err
	}
	clients, err := c.Build(ctx)
	if err != nil {
		return err
	}
	c.Progress.Expect(2)
	err = c.Progress.Step(ctx, "create the kind cluster", func(ctx context.Context) error {
		if there {
			_, err := c.Run(ctx, "", "kind", "export", "kubeconfig", "--name", clusterName, "--kubeconfig", c.kubeconfig())
			return err
		}
		_, err := c.Run(ctx, config(o.Hosts), "kind", "create", "cluster",
			"--name", clusterName, "--kubeconfig", c.kubeconfig(), "--config", "-", "--wait", "3m")
		return err
	})
	if err != nil {
		return err
	}
	return c.Progress.Step(ctx, "prepare the hosts", func(ctx context.Context) error { return c.finish(ctx, o, clients) })
}

// config is the kind configuration: one node, or a control plane and as many
// workers as hosts.
func config(hosts int) string {
	text := "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n"
	if hosts > 1 {
		text += strings.Repeat("- role: worker\n", hosts)
	}
	return text
}

// finish starts sandboxd on every node and writes down what the cluster is.
func (c *Cluster) finish(ctx context.Context, o cluster.Options, clients map[string]string) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	if len(nodes) != o.Hosts {
		return fmt.Errorf(`the kind cluster has %d hosts, not %d; run "cluster down" first`, len(nodes), o.Hosts)
	}
	info := &cluster.Info{Driver: driver, Kubeconfig: c.kubeconfig()}
	if info.Kubectl, err = c.link(clients, "kubectl"); err != nil {
		return err
	}
	if info.Helm, err = c.link(clients, "helm"); err != nil {
		return err
	}
	view := func(args ...string) (string, error) {
		return c.Run(ctx, "", info.Kubectl, append([]string{"--kubeconfig", info.Kubeconfig}, args...)...)
	}
	if info.APIServer, err = view("config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"); err != nil {
		return err
	}
	if info.KubernetesVersion, err = view("get", "nodes", "-o", "jsonpath={.items[0].status.nodeInfo.kubeletVersion}"); err != nil {
		return err
	}
	for _, name := range nodes {
		ip, err := c.Run(ctx, "", "docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", name)
		if err != nil {
			return err
		}
		h := cluster.Host{Name: name, IP: strings.TrimSpace(ip)}
		if o.SandboxdBinary != "" {
			if err := c.startSandboxd(ctx, &h, o.SandboxdBinary); err != nil {
				return fmt.Errorf("start sandboxd on %s: %w", name, err)
			}
		}
		info.Hosts = append(info.Hosts, h)
	}
	return info.Save(c.State)
}

// link puts a program for users into the state folder.
func (c *Cluster) link(files map[string]string, name string) (string, error) {
	link := filepath.Join(c.State, "bin", name)
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		return "", err
	}
	if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return link, os.Symlink(files[name], link)
}

func (c *Cluster) tokenFile() string { return filepath.Join(c.State, "sandboxd-token") }

// startSandboxd starts sandboxd in a node's container, in place of one that an
// earlier call started.
func (c *Cluster) startSandboxd(ctx context.Context, h *cluster.Host, binary string) error {
	if _, err := os.Stat(c.tokenFile()); errors.Is(err, os.ErrNotExist) {
		if err := cluster.WriteFile(c.tokenFile(), []byte(rand.Text()+"\n"), 0o600); err != nil {
			return err
		}
	}
	h.SandboxdAddr, h.SandboxdControlURL, h.SandboxdTokenFile = h.IP+":7777", "http://"+h.IP+":7778", c.tokenFile()
	const program, token, service = "/usr/local/bin/sandboxd", "/etc/sandboxd-token", "sandboxd"
	for _, args := range [][]string{
		{"exec", h.Name, "sh", "-c", "systemctl stop " + service + " 2>/dev/null || true"},
		{"cp", binary, h.Name + ":" + program},
		{"cp", c.tokenFile(), h.Name + ":" + token},
		{"exec", h.Name, "systemd-run", "--unit=" + service, "--collect", program,
			"--listen", "127.0.0.1:7777", "--control-listen", h.IP + ":7778", "--advertise-addr", h.SandboxdAddr,
			"--token-file", token, "--state-dir", "/var/lib/sandboxd"},
	} {
		if _, err := c.Run(ctx, "", "docker", args...); err != nil {
			return err
		}
	}
	return nil
}

// LoadImage makes an image and gives it to every node.
func (c *Cluster) LoadImage(ctx context.Context, spec image.Spec) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	archive := filepath.Join(c.State, "image.tar")
	defer os.Remove(archive)
	c.Progress.Expect(1)
	return c.Progress.Step(ctx, "make and load image "+spec.Name, func(ctx context.Context) error {
		if err := image.Write(spec, archive); err != nil {
			return err
		}
		_, err := c.Run(ctx, "", "kind", "load", "image-archive", archive, "--name", clusterName)
		return err
	})
}
