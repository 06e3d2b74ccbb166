// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
)

// Programs are the paths of what is measured, and the folder of its logs.
type Programs struct {
	Daemon string
	Kwok   string
	// KwokStages is kustomize/stage of KWOK's module.
	KwokStages string
	Logs       string
}

// Daemon is the daemon of this project.
type Daemon struct {
	programs Programs
	cluster  *cluster.Cluster
	flags    []string

	sandboxd    *Simulator
	dir         string
	kubeconfig  string
	metricsAddr string
	Process     *Process
}

// FastClient are the flags under which the client's budget is no limit.
func FastClient() []string { return []string{"--kube-api-qps=5000", "--kube-api-burst=5000"} }

// NewDaemon returns the daemon with these flags, not started.
func NewDaemon(p Programs, c *cluster.Cluster, flags ...string) *Daemon {
	return &Daemon{programs: p, cluster: c, flags: flags}
}

// Name implements Subject.
func (d *Daemon) Name() string { return "the daemon" }

// Node implements Subject.
func (d *Daemon) Node() string { return d.cluster.Host().VirtualNode() }

// Cluster implements Subject.
func (d *Daemon) Cluster() *cluster.Cluster { return d.cluster }

// Alive implements Subject.
func (d *Daemon) Alive() error { return d.Process.Alive() }

// Check implements Subject.
func (d *Daemon) Check(pods int) error { return d.sandboxd.Check(pods) }

// start begins with an empty table and a sandboxd without claims.
func (d *Daemon) start(ctx context.Context) (err error) {
	if d.dir, err = os.MkdirTemp(d.cluster.Dir, "daemon-"); err != nil {
		return err
	}
	if err := os.WriteFile(d.tokenFile(), []byte(RootToken+"\n"), 0o600); err != nil {
		return err
	}
	if d.kubeconfig, err = d.cluster.Kubeconfig(ctx, cluster.Name); err != nil {
		return err
	}
	if d.sandboxd, err = StartSimulator(); err != nil {
		return err
	}
	if err := d.Launch(ctx); err != nil {
		return err
	}
	return waitSchedulable(ctx, d)
}

// Launch starts the process on whatever table there is.
func (d *Daemon) Launch(ctx context.Context) (err error) {
	if d.metricsAddr, err = freeAddress(ctx); err != nil {
		return err
	}
	d.Process, err = StartProcess(ctx, d.programs.Logs, "vk-sandbox", []string{"KUBECONFIG=" + d.kubeconfig}, append([]string{
		d.programs.Daemon,
		"--node-name=" + d.Node(), "--node-ip=" + d.cluster.Host().IP, "--node-pods=" + fmt.Sprint(nodePods),
		"--listen-addr=127.0.0.1:0", "--metrics-addr=" + d.metricsAddr, "--enable-pprof",
		"--sandboxd-url=" + d.sandboxd.Server.URL, "--sandboxd-token-file=" + d.tokenFile(),
		"--state-path=" + filepath.Join(d.dir, "state", "claims.json"),
	}, d.flags...)...)
	return err
}

func (d *Daemon) stop(ctx context.Context) error {
	errs := []error{d.Process.Stop(), d.cluster.RemoveNode(ctx, d.Node()), os.RemoveAll(d.dir)}
	if d.sandboxd != nil {
		errs = append(errs, d.sandboxd.Stop())
	}
	return errors.Join(errs...)
}

func (d *Daemon) tokenFile() string { return filepath.Join(d.dir, "token") }

// freeAddress is one on loopback that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
