// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Status prints every node with its health, and every host with its addresses.
// It returns an error if something is not healthy.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	info, err := c.running(ctx)
	if err != nil {
		return err
	}
	all, _, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	var parts []cluster.Part
	for _, node := range all {
		parts = append(parts, cluster.Part{Name: node, Health: c.nodeHealth(ctx, info, node)})
	}
	for _, h := range info.Hosts {
		if h.SandboxdAddr != "" {
			parts = append(parts, cluster.Part{Name: h.Name + ".sandboxd", Health: c.sandboxdHealth(ctx, h.Name)})
		}
	}
	return cluster.PrintStatus(out, info, parts,
		fmt.Sprintf(`"kind export logs --name %s" collects their logs, and "cluster up" starts them again`, c.name()))
}

// nodeHealth says how a node is: "healthy", or what is wrong.
func (c *Cluster) nodeHealth(ctx context.Context, info *cluster.Info, node string) string {
	state, err := c.Run(ctx, "", "docker", "inspect", "-f", "{{.State.Status}}", node)
	if err != nil {
		return "unhealthy: " + reason(err)
	}
	if state = strings.TrimSpace(state); state != "running" {
		return "its container is " + state
	}
	ready, err := c.Run(ctx, "", info.Kubectl, "--kubeconfig", info.Kubeconfig, "--request-timeout=5s", "get", "node", node,
		"-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	if err != nil {
		return "unhealthy: " + reason(err)
	}
	if ready != "True" {
		return "unhealthy: the Node is not Ready"
	}
	return cluster.Healthy
}

// sandboxdHealth says how a host's sandboxd is.
func (c *Cluster) sandboxdHealth(ctx context.Context, host string) string {
	// is-active fails for anything but "active".
	state, err := c.Run(ctx, "", "docker", "exec", host, "sh", "-c", "systemctl is-active sandboxd || true")
	if err != nil {
		return "unhealthy: " + reason(err)
	}
	if state = strings.TrimSpace(state); state != "active" {
		return "unhealthy: it is " + state
	}
	return cluster.Healthy
}
