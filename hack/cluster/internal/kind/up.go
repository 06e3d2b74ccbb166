// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// Up creates the cluster, or starts what of it does not run, and returns when
// all its nodes are Ready. The number of hosts can not change.
func (c *Cluster) Up(ctx context.Context, o cluster.Options) error {
	unlock, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := cluster.IgnoreFolder(c.State); err != nil {
		return err
	}
	there, err := c.exists(ctx)
	if err != nil {
		return err
	}
	title, begin := fmt.Sprintf("create the kind cluster %s", c.name()), c.create
	if there {
		title, begin = fmt.Sprintf("start the nodes of the kind cluster %s", c.name()), c.restart
	}
	up := &start{Cluster: c, options: o}
	c.Progress.Expect(3)
	if up.clients, err = c.Build(ctx); err != nil {
		return err
	}
	err = c.Progress.Steps(ctx,
		progress.Step{Title: title, Do: func(ctx context.Context) error { return begin(ctx, o.Hosts) }},
		progress.Step{Title: "wait until every Node is Ready", Do: up.wait},
		progress.Step{Title: "prepare the hosts", Do: up.finish},
	)
	if err != nil {
		return err
	}
	cluster.ReportUp(c.Progress, c.State, c.kubeconfig())
	return nil
}

// create makes the cluster. What a failure or an interruption leaves is
// deleted: nothing could be done with it.
func (c *Cluster) create(ctx context.Context, hosts int) error {
	args := []string{"create", "cluster", "--name", c.name(), "--kubeconfig", c.kubeconfig(), "--config", "-"}
	if c.NodeImage != "" {
		args = append(args, "--image", c.NodeImage)
	}
	_, err := c.Run(ctx, config(hosts), "kind", args...)
	if err != nil {
		return errors.Join(err, c.remove(context.WithoutCancel(ctx)))
	}
	return nil
}

// restart starts the nodes that do not run, as after a restart of the engine.
func (c *Cluster) restart(ctx context.Context, hosts int) error {
	all, have, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	if len(have) != hosts {
		return fmt.Errorf(`the kind cluster has %d hosts, and can not change to %d; run "cluster down" first`, len(have), hosts)
	}
	if _, err := c.Run(ctx, "", "docker", append([]string{"start"}, all...)...); err != nil {
		return err
	}
	if _, err := c.Run(ctx, "", "kind", "export", "kubeconfig", "--name", c.name(), "--kubeconfig", c.kubeconfig()); err != nil {
		return fmt.Errorf(`the kind cluster is incomplete; run "cluster down" first: %w`, err)
	}
	return nil
}

// start is one run of Up.
type start struct {
	*Cluster
	options cluster.Options
	clients map[string]string
	info    *cluster.Info
	hosts   []string
}

func (s *start) kubectl(ctx context.Context, args ...string) (string, error) {
	return s.Run(ctx, "", s.info.Kubectl, append([]string{"--kubeconfig", s.info.Kubeconfig}, args...)...)
}

// wait returns when every node is Ready. It leaves out the virtual nodes of an
// earlier run, which nobody may serve now.
func (s *start) wait(ctx context.Context) error {
	all, hosts, err := s.nodes(ctx)
	if err != nil {
		return err
	}
	s.hosts = hosts
	s.info = &cluster.Info{Driver: Driver, Kubeconfig: s.kubeconfig()}
	if s.info.Kubectl, err = cluster.LinkProgram(s.State, "kubectl", s.clients["kubectl"]); err != nil {
		return err
	}
	if s.info.Helm, err = cluster.LinkProgram(s.State, "helm", s.clients["helm"]); err != nil {
		return err
	}
	args := []string{"wait", "--for=condition=Ready", "--timeout=20s"}
	for _, node := range all {
		args = append(args, "node/"+node)
	}
	if err := s.retry(ctx, args); err != nil {
		return fmt.Errorf(`%w ("kind export logs --name %s" collects the logs; "cluster down" clears the cluster away)`, err, s.name())
	}
	return nil
}

// readyTimeout is how long nodes may take until they are Ready.
const readyTimeout = 3 * time.Minute

// retry runs kubectl until it succeeds: an API server that has just begun
// refuses even what it will allow.
func (s *start) retry(ctx context.Context, args []string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	var last error
	for {
		_, err := s.kubectl(ctx, args...)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), last)
		case <-time.After(time.Second):
		}
	}
}

// finish starts sandboxd on every host and writes down what the cluster is.
func (s *start) finish(ctx context.Context) (err error) {
	if s.info.APIServer, err = s.kubectl(ctx, "config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"); err != nil {
		return err
	}
	if s.info.KubernetesVersion, err = s.kubectl(ctx, "get", "node", s.hosts[0], "-o", "jsonpath={.status.nodeInfo.kubeletVersion}"); err != nil {
		return err
	}
	if err := cluster.EnsureToken(s.tokenFile()); err != nil {
		return err
	}
	s.info.Hosts = make([]cluster.Host, len(s.hosts))
	group, ctx := errgroup.WithContext(ctx)
	for i, name := range s.hosts {
		group.Go(func() (err error) {
			s.info.Hosts[i], err = s.host(ctx, name)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return s.info.Save(s.State)
}

// host prepares a host, and returns what it is.
func (s *start) host(ctx context.Context, name string) (cluster.Host, error) {
	h := cluster.Host{Name: name}
	output, err := s.Run(ctx, "", "docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}", name)
	if err != nil {
		return h, err
	}
	addresses := strings.Fields(output)
	if len(addresses) == 0 {
		return h, fmt.Errorf("the node %s has no address", name)
	}
	h.IP = addresses[0]
	if err := s.ensureSandboxd(ctx, &h, s.options.SandboxdBinary); err != nil {
		return h, fmt.Errorf("start sandboxd on %s: %w", name, err)
	}
	return h, nil
}
