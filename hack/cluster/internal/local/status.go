// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Status prints every component with its PID and health, and every host with
// its addresses. It returns an error if something is not healthy.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	info, network, err := c.running()
	if err != nil {
		return err
	}
	clients, err := newTLSClients(c.paths)
	if err != nil {
		return err
	}
	list := c.controlPlane(network, nil, clients)
	for n := range info.Hosts {
		more, err := c.hostStatus(hostAddress(network, n+1), info.Hosts[n].SandboxdAddr != "", clients, info.APIServer)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Kubernetes %s at %s\n\nCOMPONENT\tPID\tHEALTH\n", info.KubernetesVersion, info.APIServer)
	var bad []string
	for _, item := range list {
		pid, health := c.health(ctx, item)
		if health != "healthy" {
			bad = append(bad, item.name)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", item.name, pid, health)
	}
	fmt.Fprint(table, "\nHOST\tIP\tPODS\tLINK\tSANDBOXD\tCONTROL\n")
	for _, h := range info.Hosts {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", h.Name, h.IP, h.PodCIDR, h.Link, dash(h.SandboxdAddr), dash(h.SandboxdControlURL))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(bad) > 0 {
		return fmt.Errorf(`not healthy: %s; their logs are in %s, and "cluster up" starts them again`, strings.Join(bad, ", "), c.paths.logs())
	}
	return nil
}

// hostStatus returns all components of a host, its init among them.
func (c *Cluster) hostStatus(a address, withSandboxd bool, clients tlsClients, server string) ([]component, error) {
	in, err := c.namespaces(a)
	if err != nil {
		return nil, err
	}
	if in == nil {
		in = &namespaces{}
	}
	files := map[string]string{}
	if withSandboxd {
		files["sandboxd"] = c.paths.client("sandboxd")
	}
	list := []component{
		{name: initName(a), healthy: func(ctx context.Context) error { return nodeReady(ctx, clients, server, a.name) }},
		containerd(c.paths.host(a.name), a, in, ""),
	}
	return append(list, c.hostComponents(a, in, files, clients)...), nil
}

// health says how a component is: "healthy", or what is wrong.
func (c *Cluster) health(ctx context.Context, item component) (pid, health string) {
	p, err := c.supervisor.records.load(item.name)
	switch {
	case err != nil:
		return "-", err.Error()
	case p == nil:
		return "-", "never started"
	case !p.alive():
		return "-", "ended"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := item.healthy(ctx); err != nil {
		return fmt.Sprint(p.PID), "unhealthy: " + err.Error()
	}
	return fmt.Sprint(p.PID), "healthy"
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
