// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Kubernetes %s at %s\n\nCOMPONENT\tHEALTH\n", info.KubernetesVersion, info.APIServer)
	var bad []string
	row := func(name, health string) {
		if health != "healthy" {
			bad = append(bad, name)
		}
		fmt.Fprintf(table, "%s\t%s\n", name, health)
	}
	for _, node := range all {
		row(node, c.nodeHealth(ctx, info, node))
	}
	for _, h := range info.Hosts {
		if h.SandboxdAddr != "" {
			row(h.Name+".sandboxd", c.sandboxdHealth(ctx, h.Name))
		}
	}
	fmt.Fprint(table, "\nHOST\tIP\tSANDBOXD\tCONTROL\n")
	for _, h := range info.Hosts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", h.Name, h.IP, dash(h.SandboxdAddr), dash(h.SandboxdControlURL))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf(`not healthy: %s; "kind export logs --name %s" collects their logs, and "cluster up" starts them again`,
			strings.Join(bad, ", "), c.name())
	}
	return nil
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
	return "healthy"
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
	return "healthy"
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
