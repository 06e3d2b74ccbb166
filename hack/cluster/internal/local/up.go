// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	"golang.org/x/sync/errgroup"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/binaries"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/machine"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/programs"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// Up starts the cluster, or what of it does not run, and returns when all of it
// is healthy. It can add hosts to a running cluster, but not take one away.
func (c *Cluster) Up(ctx context.Context, o cluster.Options) error {
	unlock, err := cluster.LockFolder(ctx, c.paths.State, c.progress)
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.mayStart(&o); err != nil {
		return err
	}
	up := &start{Cluster: c, options: o}
	if err := up.run(ctx); err != nil {
		return fmt.Errorf(`%w (see the logs in %s; "cluster down" clears away what was started)`, err, c.paths.Logs())
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
	installed := c.paths.Client("sandboxd")
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
	admin   *http.Client
	hosts   []layout.Address
	inside  []*process.Namespaces
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
	packages := machine.MissingPackages()
	s.progress.Expect(len(unbuilt) + min(len(packages), 1) + 5)
	if len(packages) > 0 {
		title := fmt.Sprintf("install packages %v", packages)
		if err := s.progress.Step(ctx, title, func(ctx context.Context) error { return machine.InstallPackages(ctx, packages) }); err != nil {
			return err
		}
	}
	if s.files, err = cache.Ensure(ctx, allBinaries()); err != nil {
		return err
	}
	err = s.progress.Steps(ctx,
		progress.Step{Title: "prepare network, certificates and images", Do: s.prepare},
		progress.Step{Title: "start the control plane and " + s.count() + " with containerd", Do: s.startMachines},
		progress.Step{Title: "wait for the API server", Do: s.startControllers},
		progress.Step{Title: "start kubelet, kube-proxy and sandboxd on " + s.count(), Do: s.startNodes},
		progress.Step{Title: "wait until every Node is Ready", Do: s.finish},
	)
	if err != nil {
		return err
	}
	cluster.ReportUp(s.progress, s.paths.State, s.paths.Kubeconfig())
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
	if err := cluster.IgnoreFolder(s.paths.State); err != nil {
		return err
	}
	network := s.options.CIDR
	if err := identity.EnsureControlPlanePKI(s.paths, network); err != nil {
		return err
	}
	var err error
	if s.admin, err = programs.AdminClient(s.paths); err != nil {
		return err
	}
	if err := programs.WriteAuditPolicy(s.paths); err != nil {
		return err
	}
	server := programs.APIServerURL(layout.BridgeAddr(network))
	for _, cert := range []string{identity.ManagerCert, identity.SchedulerCert, identity.ProxyCert} {
		if err := identity.WriteKubeconfig(s.paths, s.paths.Config(cert), server, cert); err != nil {
			return err
		}
	}
	if err := identity.WriteKubeconfig(s.paths, s.paths.Kubeconfig(), server, identity.AdminCert); err != nil {
		return err
	}
	for n := 1; n <= s.options.Hosts; n++ {
		a := layout.HostAddress(network, n)
		s.hosts = append(s.hosts, a)
		if err := identity.EnsureHostPKI(s.paths, a); err != nil {
			return err
		}
		if err := s.supervisor.Cgroup.EnsurePods(a.Name); err != nil {
			return err
		}
		if err := programs.WriteKubeletConfig(s.paths, a, s.supervisor.Cgroup.Pods(a.Name), server); err != nil {
			return err
		}
	}
	if err := s.installPrograms(); err != nil {
		return err
	}
	if _, err := s.writeImage(image.Spec{Name: programs.PauseImage, Binary: s.files["pause"], Entrypoint: "/pause"}); err != nil {
		return err
	}
	if err := machine.NoteSettings(s.paths); err != nil {
		return err
	}
	if err := machine.EnsureBridge(ctx, network, s.alias()); err != nil {
		return err
	}
	return machine.OpenFirewall(ctx, s.paths)
}

// installPrograms puts the programs for users, and sandboxd, into the state
// folder.
func (s *start) installPrograms() error {
	for _, b := range binaries.Clients() {
		if _, err := cluster.LinkProgram(s.paths.State, b.Name, s.files[b.Name]); err != nil {
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
		if err := programs.EnsureToken(s.paths, s.paths.Host(a.Name)); err != nil {
			return err
		}
	}
	s.files["sandboxd"], err = programs.InstallSandboxd(s.paths, s.options.SandboxdBinary)
	return err
}

// startMachines starts etcd and the API server, and makes the hosts while the
// API server starts.
func (s *start) startMachines(ctx context.Context) error {
	plane := s.controlPlane(s.options.CIDR, s.files, s.admin)
	if err := s.launch(ctx, plane[:1]); err != nil {
		return err
	}
	if _, err := s.supervisor.Start(ctx, plane[1]); err != nil {
		return err
	}
	s.inside = make([]*process.Namespaces, len(s.hosts))
	keep := []string{s.paths.State, s.programs}
	group, ctx := errgroup.WithContext(ctx)
	for i, a := range s.hosts {
		group.Go(func() (err error) {
			if s.inside[i], err = s.ensureHost(ctx, s.options.CIDR, a, keep); err != nil {
				return err
			}
			if err := machine.RoutePods(ctx, s.inside[i], a, s.hosts); err != nil {
				return err
			}
			return s.startRuntime(ctx, a, s.inside[i], s.files["containerd"])
		})
	}
	return group.Wait()
}

func (s *start) startControllers(ctx context.Context) error {
	plane := s.controlPlane(s.options.CIDR, s.files, s.admin)
	if err := s.launch(ctx, plane[:2]); err != nil {
		return err
	}
	return s.launch(ctx, plane[2:])
}

func (s *start) startNodes(ctx context.Context) error {
	var list []process.Component
	for i, a := range s.hosts {
		list = append(list, s.hostComponents(a, s.inside[i], s.files, s.admin)...)
	}
	return s.launch(ctx, list)
}

// launch starts components, and returns when all of them are healthy.
func (s *start) launch(ctx context.Context, list []process.Component) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range list {
		p, err := s.supervisor.Start(ctx, c)
		if err != nil {
			return err
		}
		group.Go(func() error { return s.supervisor.Wait(ctx, p, c.Healthy) })
	}
	return group.Wait()
}

// finish waits for the Nodes and writes down what the cluster is.
func (s *start) finish(ctx context.Context) error {
	server := programs.APIServerURL(layout.BridgeAddr(s.options.CIDR))
	for _, a := range s.hosts {
		p, err := s.supervisor.Records.Load(a.Name + ".kubelet")
		if err != nil {
			return err
		}
		if err := s.supervisor.Wait(ctx, p, func(ctx context.Context) error {
			return programs.NodeReady(ctx, s.admin, server, a.Name)
		}); err != nil {
			return err
		}
	}
	info, err := s.info(s.options, s.version)
	if err != nil {
		return err
	}
	return info.Save(s.paths.State)
}
