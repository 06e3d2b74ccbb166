// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// daemon is ours.
type daemon struct {
	options *options
	cluster *cluster
	flags   []string

	sandboxd    *simulator
	dir         string
	kubeconfig  string
	metricsAddr string
	process     *process
}

// fastClient are the flags under which the client's budget is no limit.
func fastClient() []string { return []string{"--kube-api-qps=5000", "--kube-api-burst=5000"} }

func newDaemon(o *options, c *cluster, flags ...string) *daemon {
	return &daemon{options: o, cluster: c, flags: flags}
}

func (d *daemon) name() string { return "the daemon" }

func (d *daemon) node() string { return d.cluster.host().VirtualNode() }

func (d *daemon) in() *cluster { return d.cluster }

func (d *daemon) alive() error { return d.process.alive() }

func (d *daemon) check(pods int) error { return d.sandboxd.check(pods) }

// start begins with an empty table and a sandboxd without claims.
func (d *daemon) start(ctx context.Context) (err error) {
	if d.dir, err = os.MkdirTemp(d.cluster.dir, "daemon-"); err != nil {
		return err
	}
	if err := os.WriteFile(d.tokenFile(), []byte(rootToken+"\n"), 0o600); err != nil {
		return err
	}
	if d.kubeconfig, err = d.cluster.kubeconfig(ctx, benchName); err != nil {
		return err
	}
	if d.sandboxd, err = startSimulator(); err != nil {
		return err
	}
	if err := d.launch(ctx); err != nil {
		return err
	}
	return d.cluster.waitSchedulable(ctx, d)
}

// launch starts the process on whatever table there is.
func (d *daemon) launch(ctx context.Context) (err error) {
	if d.metricsAddr, err = freeAddress(ctx); err != nil {
		return err
	}
	d.process, err = startProcess(ctx, d.options.logs, "vk-sandbox", []string{"KUBECONFIG=" + d.kubeconfig}, append([]string{
		d.options.daemon,
		"--node-name=" + d.node(), "--node-ip=" + d.cluster.host().IP, "--node-pods=" + fmt.Sprint(nodePods),
		"--listen-addr=127.0.0.1:0", "--metrics-addr=" + d.metricsAddr, "--enable-pprof",
		"--sandboxd-url=" + d.sandboxd.server.URL, "--sandboxd-token-file=" + d.tokenFile(),
		"--state-path=" + filepath.Join(d.dir, "state", "claims.json"),
	}, d.flags...)...)
	return err
}

func (d *daemon) stop(ctx context.Context) error {
	errs := []error{d.process.stop(), d.cluster.removeNode(ctx, d.node()), os.RemoveAll(d.dir)}
	if d.sandboxd != nil {
		errs = append(errs, d.sandboxd.stop())
	}
	return errors.Join(errs...)
}

func (d *daemon) tokenFile() string { return filepath.Join(d.dir, "token") }

// freeAddress is one on loopback that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
