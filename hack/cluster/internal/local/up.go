// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/binaries"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

// Up starts the cluster, or what of it does not run, and returns when all of it
// is healthy. It can add hosts to a running cluster, but not take one away.
func (c *Cluster) Up(ctx context.Context, o cluster.Options) error {
	unlock, err := c.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.mayStart(&o); err != nil {
		return err
	}
	up := &start{Cluster: c, options: o}
	if err := up.run(ctx); err != nil {
		return fmt.Errorf(`%w (see the logs in %s; "cluster down" clears away what was started)`, err, c.paths.logs())
	}
	return nil
}

// mayStart reports why a cluster with these options can not be started here. A
// sandboxd that runs already is kept.
func (c *Cluster) mayStart(o *cluster.Options) error {
	if other := c.foreign(); other != "" {
		return fmt.Errorf("another cluster runs on this machine, with its state in %s; end it with VK_SANDBOX_CLUSTER_DIR=%s and \"cluster down\"", other, other)
	}
	info, network, err := c.running()
	if errors.Is(err, cluster.ErrNotUp) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(info.Hosts) > o.Hosts {
		return fmt.Errorf(`the cluster has %d hosts, and can not go down to %d; run "cluster down" first`, len(info.Hosts), o.Hosts)
	}
	if network != o.CIDR {
		return fmt.Errorf(`the cluster uses the network %s; run "cluster down" before changing it to %s`, network, o.CIDR)
	}
	installed := c.paths.client("sandboxd")
	if _, err := os.Stat(installed); err == nil && o.SandboxdBinary == "" {
		o.SandboxdBinary = installed
	}
	return nil
}

// start is one run of Up.
type start struct {
	*Cluster
	options cluster.Options
	files   map[string]string
	clients tlsClients
	hosts   []address
	inside  []*namespaces
	version string
	// programs is the folder that the files lie in.
	programs string
}

func (s *start) run(ctx context.Context) error {
	cache, err := binaries.NewCache(s.source, s.progress)
	if err != nil {
		return err
	}
	s.programs = cache.Dir
	unbuilt, err := cache.Missing(allBinaries())
	if err != nil {
		return err
	}
	if s.version, err = binaries.KubernetesVersion(s.source); err != nil {
		return err
	}
	packages := missingPackages()
	s.progress.Expect(len(unbuilt) + min(len(packages), 1) + 5)
	if len(packages) > 0 {
		title := fmt.Sprintf("install packages %v", packages)
		if err := s.progress.Step(ctx, title, func(ctx context.Context) error { return installPackages(ctx, packages) }); err != nil {
			return err
		}
	}
	if s.files, err = cache.Ensure(ctx, allBinaries()); err != nil {
		return err
	}
	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"prepare network, certificates and images", s.prepare},
		{"start the control plane and " + s.count() + " with containerd", s.startMachines},
		{"wait for the API server", s.startControllers},
		{"start kubelet, kube-proxy and sandboxd on " + s.count(), s.startNodes},
		{"wait until every Node is Ready", s.finish},
	} {
		if err := s.progress.Step(ctx, step.title, step.do); err != nil {
			return err
		}
	}
	s.progress.Printf("the cluster is up: export KUBECONFIG=%s PATH=%s:$PATH", s.paths.kubeconfig(), s.paths.bin())
	return nil
}

func (s *start) count() string {
	if s.options.Hosts == 1 {
		return "1 host"
	}
	return fmt.Sprintf("%d hosts", s.options.Hosts)
}

// prepare does what must be there before the first process.
func (s *start) prepare(ctx context.Context) error {
	// The folder lies in a repository that need not know of it.
	if err := cluster.WriteFile(filepath.Join(s.paths.state, ".gitignore"), []byte("*\n"), 0o644); err != nil {
		return err
	}
	network := s.options.CIDR
	if err := ensureControlPlanePKI(s.paths, network); err != nil {
		return err
	}
	var err error
	if s.clients, err = newTLSClients(s.paths); err != nil {
		return err
	}
	if err := writeAuditPolicy(s.paths); err != nil {
		return err
	}
	server := apiServerURL(bridgeAddr(network))
	for _, cert := range []string{managerCert, schedulerCert, proxyCert} {
		if err := writeKubeconfig(s.paths, s.paths.config(cert), server, cert); err != nil {
			return err
		}
	}
	if err := writeKubeconfig(s.paths, s.paths.kubeconfig(), server, adminCert); err != nil {
		return err
	}
	for n := 1; n <= s.options.Hosts; n++ {
		a := hostAddress(network, n)
		s.hosts = append(s.hosts, a)
		if err := ensureHostPKI(s.paths, a); err != nil {
			return err
		}
		if err := s.supervisor.cgroup.ensurePods(a.name); err != nil {
			return err
		}
		if err := writeKubeletConfig(s.paths, a, s.supervisor.cgroup.pods(a.name), server); err != nil {
			return err
		}
	}
	if err := s.installPrograms(); err != nil {
		return err
	}
	if _, err := s.writeImage(image.Spec{Name: pauseImage, Binary: s.files["pause"], Entrypoint: "/pause"}); err != nil {
		return err
	}
	if err := noteSettings(s.paths); err != nil {
		return err
	}
	if err := ensureBridge(ctx, network, s.alias()); err != nil {
		return err
	}
	return openFirewall(ctx, s.paths)
}

// installPrograms puts the programs for users, and sandboxd, into the state
// folder.
func (s *start) installPrograms() error {
	if err := os.MkdirAll(s.paths.bin(), 0o755); err != nil {
		return err
	}
	for _, b := range binaries.Clients() {
		link := s.paths.client(b.Name)
		if err := os.Remove(link); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.Symlink(s.files[b.Name], link); err != nil {
			return err
		}
	}
	var err error
	if s.files["containerd"], err = exec.LookPath("containerd"); err != nil {
		return err
	}
	if s.options.SandboxdBinary == "" {
		return nil
	}
	for _, a := range s.hosts {
		if err := ensureToken(s.paths, s.paths.host(a.name)); err != nil {
			return err
		}
	}
	s.files["sandboxd"], err = installSandboxd(s.paths, s.options.SandboxdBinary)
	return err
}

// startMachines starts etcd and the API server, and makes the hosts while the
// API server starts.
func (s *start) startMachines(ctx context.Context) error {
	plane := s.controlPlane(s.options.CIDR, s.files, s.clients)
	if err := s.launch(ctx, plane[:1]); err != nil {
		return err
	}
	if _, err := s.supervisor.start(ctx, plane[1]); err != nil {
		return err
	}
	s.inside = make([]*namespaces, len(s.hosts))
	keep := []string{s.paths.state, s.programs}
	group, ctx := errgroup.WithContext(ctx)
	for i, a := range s.hosts {
		group.Go(func() (err error) {
			if s.inside[i], err = s.ensureHost(ctx, s.options.CIDR, a, keep); err != nil {
				return err
			}
			if err := routePods(ctx, s.inside[i], a, s.hosts); err != nil {
				return err
			}
			return s.startRuntime(ctx, a, s.inside[i], s.files["containerd"])
		})
	}
	return group.Wait()
}

func (s *start) startControllers(ctx context.Context) error {
	plane := s.controlPlane(s.options.CIDR, s.files, s.clients)
	if err := s.launch(ctx, plane[:2]); err != nil {
		return err
	}
	return s.launch(ctx, plane[2:])
}

func (s *start) startNodes(ctx context.Context) error {
	var list []component
	for i, a := range s.hosts {
		list = append(list, s.hostComponents(a, s.inside[i], s.files, s.clients)...)
	}
	return s.launch(ctx, list)
}

// launch starts components, and returns when all of them are healthy.
func (s *start) launch(ctx context.Context, list []component) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range list {
		p, err := s.supervisor.start(ctx, c)
		if err != nil {
			return err
		}
		group.Go(func() error { return s.supervisor.wait(ctx, p, c.healthy) })
	}
	return group.Wait()
}

// finish waits for the Nodes and writes down what the cluster is.
func (s *start) finish(ctx context.Context) error {
	server := apiServerURL(bridgeAddr(s.options.CIDR))
	for _, a := range s.hosts {
		p, err := s.supervisor.records.load(a.name + ".kubelet")
		if err != nil {
			return err
		}
		if err := s.supervisor.wait(ctx, p, func(ctx context.Context) error {
			return nodeReady(ctx, s.clients, server, a.name)
		}); err != nil {
			return err
		}
	}
	info, err := s.info(s.options, s.version)
	if err != nil {
		return err
	}
	return info.Save(s.paths.state)
}
