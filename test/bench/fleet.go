// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
)

// fleetSettles is how long the requests of a fleet are counted after the last
// of its Nodes has registered.
const fleetSettles = 5 * time.Second

// measureFleet starts many daemons in the same second against an API server
// that counts.
func measureFleet(ctx context.Context, o *options, _ *cluster.Cluster, r *results.Report) (err error) {
	results.Logf("%d daemons in one second", o.daemons)
	dir, err := os.MkdirTemp("", "vk-sandbox-fleet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	node, err := subject.StartSimulator()
	if err != nil {
		return err
	}
	counter := &counter{registered: make(chan string, 1<<16)}
	counter.next = kubeapi.New(kubeapi.Config{})
	server := httptest.NewServer(counter)
	f := &fleet{options: o, dir: dir, sandboxdURL: node.Server.URL}
	defer func() {
		err = errors.Join(err, f.stop(), node.Stop())
		server.CloseClientConnections()
		server.Close()
	}()
	if err := f.prepare(server.URL); err != nil {
		return err
	}
	tick := time.NewTicker(time.Second / time.Duration(o.daemons))
	defer tick.Stop()
	for i := range o.daemons {
		<-tick.C
		if err := f.start(ctx, i); err != nil {
			return err
		}
	}
	if err := counter.waitRegistered(ctx, o.daemons); err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, fleetSettles); err != nil {
		return err
	}
	total, wide, peak := counter.summary(100 * time.Millisecond)
	results.Logf("%d requests, %d of them cluster-wide lists, most in 100 ms: %d", total, wide, peak)
	r.Ours(of(rowWide, o.daemons), float64(wide))
	r.Ours(rowPeak, float64(peak)/float64(o.daemons))
	return nil
}

// fleet is daemons of as many nodes, each with a table of its own. They share a
// sandboxd, which is asked for nothing here but what runs.
type fleet struct {
	options     *options
	dir         string
	sandboxdURL string
	processes   []*subject.Process
}

func (f *fleet) prepare(url string) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["fleet"] = &clientcmdapi.Cluster{Server: url}
	k.Contexts["fleet"] = &clientcmdapi.Context{Cluster: "fleet"}
	k.CurrentContext = "fleet"
	return errors.Join(
		clientcmd.WriteToFile(*k, filepath.Join(f.dir, "kubeconfig")),
		os.WriteFile(filepath.Join(f.dir, "token"), []byte(subject.RootToken+"\n"), 0o600),
	)
}

func (f *fleet) start(ctx context.Context, i int) error {
	p, err := subject.StartProcess(ctx, f.options.programs.Logs, "fleet", []string{"KUBECONFIG=" + filepath.Join(f.dir, "kubeconfig")},
		f.options.programs.Daemon, fmt.Sprintf("--node-name=host-%03d-sandboxd", i), "--node-ip=127.0.0.1",
		"--listen-addr=127.0.0.1:0", "--metrics-addr=0", "--publish-inventory",
		"--sandboxd-url="+f.sandboxdURL, "--sandboxd-token-file="+filepath.Join(f.dir, "token"),
		"--state-path="+filepath.Join(f.dir, fmt.Sprintf("host-%03d", i), "claims.json"),
	)
	if err == nil {
		f.processes = append(f.processes, p)
	}
	return err
}

func (f *fleet) stop() error {
	var errs []error
	for _, p := range f.processes {
		errs = append(errs, p.Stop())
	}
	return errors.Join(errs...)
}
