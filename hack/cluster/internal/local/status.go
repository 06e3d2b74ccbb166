// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
)

// Status prints every component with its PID and health, and every host with
// its addresses. It returns an error if something is not healthy.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	info, network, err := c.running()
	if err != nil {
		return err
	}
	admin, err := programs.AdminClient(c.paths)
	if err != nil {
		return err
	}
	list := c.controlPlane(network, nil, admin)
	for n := range info.Hosts {
		more, err := c.hostStatus(layout.HostAddress(network, n+1), info.Hosts[n].SandboxdAddr != "", admin, info.APIServer)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	var parts []cluster.Part
	for _, item := range list {
		pid, health := c.health(ctx, item)
		parts = append(parts, cluster.Part{Name: item.Name, PID: pid, Health: health})
	}
	return cluster.PrintStatus(out, info, parts, fmt.Sprintf(`their logs are in %s, and "cluster up" starts them again`, c.paths.Logs()))
}

// hostStatus returns all components of a host, its init among them.
func (c *Cluster) hostStatus(a layout.Address, withSandboxd bool, admin *http.Client, server string) ([]process.Component, error) {
	in, err := c.namespaces(a)
	if err != nil {
		return nil, err
	}
	if in == nil {
		in = &process.Namespaces{}
	}
	files := map[string]string{}
	if withSandboxd {
		files["sandboxd"] = c.paths.Client("sandboxd")
	}
	list := []process.Component{
		{Name: initName(a), Healthy: func(ctx context.Context) error { return programs.NodeReady(ctx, admin, server, a.Name) }},
		programs.Containerd(c.paths.Host(a.Name), a, in, ""),
	}
	return append(list, c.hostComponents(a, in, files, admin)...), nil
}

// health says how a component is: "healthy", or what is wrong.
func (c *Cluster) health(ctx context.Context, item process.Component) (pid, health string) {
	p, err := c.supervisor.Records.Load(item.Name)
	switch {
	case err != nil:
		return "-", err.Error()
	case p == nil:
		return "-", "never started"
	case !p.Alive():
		return "-", "ended"
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	if err := item.Healthy(ctx); err != nil {
		return fmt.Sprint(p.PID), "unhealthy: " + err.Error()
	}
	return fmt.Sprint(p.PID), cluster.Healthy
}
