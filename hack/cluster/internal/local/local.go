// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/binaries"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/machine"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

const driver = "local"

// Cluster is the cluster of a state folder, running or not.
type Cluster struct {
	paths      layout.Paths
	source     string
	progress   *progress.Reporter
	supervisor *process.Supervisor
}

// New returns the Cluster of a state folder, an absolute path. Source is the
// folder of the cluster module.
func New(state, source string, p *progress.Reporter) (*Cluster, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the local cluster makes network namespaces and mounts; run this as root")
	}
	group, err := process.FindCgroup("/sys/fs/cgroup")
	if err != nil {
		return nil, err
	}
	files := layout.Paths{State: state}
	return &Cluster{
		paths: files, source: source, progress: p,
		supervisor: process.NewSupervisor(files.Records(), group),
	}, nil
}

// alias is how the bridge names its owner. The kernel keeps 255 bytes.
func (c *Cluster) alias() string {
	return c.paths.State[:min(len(c.paths.State), 255)]
}

// foreign returns the state folder of another cluster that runs on this
// machine, or "".
func (c *Cluster) foreign() string {
	if owner := machine.LinkOwner(); owner != c.alias() {
		return owner
	}
	return ""
}

// info describes the cluster as it is laid out; a host whose init does not run
// has no InitPID.
func (c *Cluster) info(o cluster.Options, version string) (*cluster.Info, error) {
	info := &cluster.Info{
		Driver: driver, KubernetesVersion: version,
		APIServer:  programs.APIServerURL(layout.BridgeAddr(o.CIDR)),
		Kubeconfig: c.paths.Kubeconfig(), Kubectl: c.paths.Client("kubectl"), Helm: c.paths.Client("helm"),
		AuditLog: c.paths.AuditLog(), CIDR: o.CIDR.String(), Bridge: layout.BridgeName,
	}
	for n := 1; n <= o.Hosts; n++ {
		a := layout.HostAddress(o.CIDR, n)
		files := c.paths.Host(a.Name)
		h := cluster.Host{
			Name: a.Name, IP: a.IP.String(), PodCIDR: a.Pods.String(), Link: a.Link,
			HostPathRoot: files.Root(), ContainerdSocket: files.ContainerdSocket(), Logs: c.paths.HostLogs(a.Name),
		}
		if in, err := c.namespaces(a); err != nil {
			return nil, err
		} else if in != nil {
			h.InitPID = in.PID
		}
		if o.SandboxdBinary != "" {
			h.SandboxdAddr = netip.AddrPortFrom(a.IP, programs.SandboxdPort).String()
			h.SandboxdControlURL = "http://" + netip.AddrPortFrom(a.IP, programs.SandboxdControlPort).String()
			h.SandboxdTokenFile = files.SandboxdToken()
		}
		info.Hosts = append(info.Hosts, h)
	}
	return info, nil
}

// namespaces returns the namespaces of a host, or nil if the host does not run.
func (c *Cluster) namespaces(a layout.Address) (*process.Namespaces, error) {
	p, err := c.supervisor.Records.Load(initName(a))
	if err != nil || p == nil || !p.Alive() || p.Ending() {
		return nil, err
	}
	return &process.Namespaces{PID: p.PID}, nil
}

// running returns the Info of the cluster with the network it uses, or
// cluster.ErrNotUp.
func (c *Cluster) running() (*cluster.Info, netip.Prefix, error) {
	info, err := cluster.Load(c.paths.State)
	if err != nil {
		return nil, netip.Prefix{}, err
	}
	network, err := netip.ParsePrefix(info.CIDR)
	return info, network, err
}

// Exec runs a program on a host, with the caller's standard streams, and
// returns its exit code.
func (c *Cluster) Exec(ctx context.Context, host string, argv []string) (int, error) {
	info, network, err := c.running()
	if err != nil {
		return 0, err
	}
	for n := range info.Hosts {
		a := layout.HostAddress(network, n+1)
		if a.Name != host {
			continue
		}
		in, err := c.namespaces(a)
		if err != nil {
			return 0, err
		}
		if in == nil {
			return 0, fmt.Errorf(`host %s does not run; start it again with "cluster up"`, host)
		}
		return in.Interactive(ctx, argv[0], argv[1:]...)
	}
	return 0, fmt.Errorf("the cluster has no host %q", host)
}

// allBinaries are the programs that the cluster needs.
func allBinaries() []binaries.Binary {
	return append(binaries.Kubernetes(), binaries.Clients()...)
}
