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
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

const driver = "local"

// Cluster is the cluster of a state folder, running or not.
type Cluster struct {
	paths      paths
	source     string
	progress   *progress.Reporter
	supervisor supervisor
}

// New returns the Cluster of a state folder, an absolute path. Source is the
// folder of the cluster module.
func New(state, source string, p *progress.Reporter) (*Cluster, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("the local cluster makes network namespaces and mounts; run this as root")
	}
	group, err := findCgroup("/sys/fs/cgroup")
	if err != nil {
		return nil, err
	}
	files := paths{state}
	return &Cluster{
		paths: files, source: source, progress: p,
		supervisor: supervisor{records: records{files.records()}, cgroup: group},
	}, nil
}

// lock keeps two commands from changing the same cluster at once.
func (c *Cluster) lock(ctx context.Context) (unlock func(), err error) {
	return cluster.Lock(ctx, c.paths.lock(), func() {
		c.progress.Printf("waiting: another command is working on the cluster in %s", c.paths.state)
	})
}

// alias is how the bridge names its owner. The kernel keeps 255 bytes.
func (c *Cluster) alias() string {
	return c.paths.state[:min(len(c.paths.state), 255)]
}

// foreign returns the state folder of another cluster that runs on this
// machine, or "".
func (c *Cluster) foreign() string {
	if owner := linkOwner(); owner != c.alias() {
		return owner
	}
	return ""
}

// info describes the cluster as it is laid out; a host whose init does not run
// has no InitPID.
func (c *Cluster) info(o cluster.Options, version string) (*cluster.Info, error) {
	info := &cluster.Info{
		Driver: driver, KubernetesVersion: version,
		APIServer:  apiServerURL(bridgeAddr(o.CIDR)),
		Kubeconfig: c.paths.kubeconfig(), Kubectl: c.paths.client("kubectl"), Helm: c.paths.client("helm"),
		AuditLog: c.paths.auditLog(), CIDR: o.CIDR.String(), Bridge: bridgeName,
	}
	for n := 1; n <= o.Hosts; n++ {
		a := hostAddress(o.CIDR, n)
		files := c.paths.host(a.name)
		h := cluster.Host{
			Name: a.name, IP: a.ip.String(), PodCIDR: a.pods.String(), Link: a.link,
			HostPathRoot: files.root(), ContainerdSocket: files.containerdSocket(), Logs: c.paths.hostLogs(a.name),
		}
		if in, err := c.namespaces(a); err != nil {
			return nil, err
		} else if in != nil {
			h.InitPID = in.pid
		}
		if o.SandboxdBinary != "" {
			h.SandboxdAddr = netip.AddrPortFrom(a.ip, sandboxdPort).String()
			h.SandboxdControlURL = "http://" + netip.AddrPortFrom(a.ip, sandboxdControlPort).String()
			h.SandboxdTokenFile = files.sandboxdToken()
		}
		info.Hosts = append(info.Hosts, h)
	}
	return info, nil
}

// namespaces returns the namespaces of a host, or nil if the host does not run.
func (c *Cluster) namespaces(a address) (*namespaces, error) {
	p, err := c.supervisor.records.load(initName(a))
	if err != nil || p == nil || !p.alive() || p.ending() {
		return nil, err
	}
	return &namespaces{p.PID}, nil
}

// running returns the Info of the cluster with the network it uses, or
// cluster.ErrNotUp.
func (c *Cluster) running() (*cluster.Info, netip.Prefix, error) {
	info, err := cluster.Load(c.paths.state)
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
		a := hostAddress(network, n+1)
		if a.name != host {
			continue
		}
		in, err := c.namespaces(a)
		if err != nil {
			return 0, err
		}
		if in == nil {
			return 0, fmt.Errorf(`host %s does not run; start it again with "cluster up"`, host)
		}
		return in.interactive(ctx, argv[0], argv[1:]...)
	}
	return 0, fmt.Errorf("the cluster has no host %q", host)
}

// allBinaries are the programs that the cluster needs.
func allBinaries() []binaries.Binary {
	return append(binaries.Kubernetes(), binaries.Clients()...)
}
