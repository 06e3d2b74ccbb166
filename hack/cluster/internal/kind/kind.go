// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kind runs a cluster with kind and Docker, behind the same
// sub-commands as the local one. Kind's nodes are the hosts.
package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

const (
	driver      = "kind"
	clusterName = "vk-sandbox"
)

// Runner runs a program to its end and returns what it printed. Input, if not
// empty, is the program's standard input.
type Runner func(ctx context.Context, input, program string, args ...string) (string, error)

// Builder builds the programs for users and returns their files by name.
type Builder func(ctx context.Context) (map[string]string, error)

// Cluster is the kind cluster of a state folder, running or not.
type Cluster struct {
	// State is the state folder, an absolute path.
	State    string
	Progress *progress.Reporter
	Run      Runner
	Build    Builder
	// LookPath finds a program of the machine.
	LookPath func(program string) (string, error)
}

// Command is the Runner that runs programs.
func Command(ctx context.Context, input, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// check reports what this machine lacks.
func (c *Cluster) check(ctx context.Context) error {
	for program, hint := range map[string]string{
		"kind":   `install it with "go install sigs.k8s.io/kind@v0.33.0"`,
		"docker": "install Docker Engine",
	} {
		if _, err := c.LookPath(program); err != nil {
			return fmt.Errorf("CLUSTER=kind needs the program %s: %s, or unset CLUSTER to run the cluster without it", program, hint)
		}
	}
	if _, err := c.Run(ctx, "", "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("CLUSTER=kind needs a running Docker engine; start it, or unset CLUSTER: %w", err)
	}
	return nil
}

func (c *Cluster) kubeconfig() string { return filepath.Join(c.State, "kubeconfig") }

// exists reports whether kind has the cluster.
func (c *Cluster) exists(ctx context.Context) (bool, error) {
	output, err := c.Run(ctx, "", "kind", "get", "clusters")
	if err != nil {
		return false, err
	}
	for name := range strings.FieldsSeq(output) {
		if name == clusterName {
			return true, nil
		}
	}
	return false, nil
}

// nodes returns the names of the nodes that run Pods: the workers, or the
// control plane where it is alone.
func (c *Cluster) nodes(ctx context.Context) ([]string, error) {
	output, err := c.Run(ctx, "", "kind", "get", "nodes", "--name", clusterName)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(output)
	var workers []string
	for _, name := range all {
		if !strings.HasSuffix(name, "-control-plane") {
			workers = append(workers, name)
		}
	}
	if len(workers) == 0 {
		return all, nil
	}
	return workers, nil
}

// Down deletes the cluster, if there is one.
func (c *Cluster) Down(ctx context.Context) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	c.Progress.Expect(1)
	return c.Progress.Step(ctx, "delete the kind cluster", func(ctx context.Context) error {
		if _, err := c.Run(ctx, "", "kind", "delete", "cluster", "--name", clusterName, "--kubeconfig", c.kubeconfig()); err != nil {
			return err
		}
		return errors.Join(cluster.Remove(c.State), os.RemoveAll(c.kubeconfig()), os.RemoveAll(filepath.Join(c.State, "bin")),
			os.RemoveAll(c.tokenFile()))
	})
}

// Status prints the cluster's nodes.
func (c *Cluster) Status(ctx context.Context, out io.Writer) error {
	if err := c.check(ctx); err != nil {
		return err
	}
	info, err := cluster.Load(c.State)
	if err != nil {
		return err
	}
	nodes, err := c.Run(ctx, "", info.Kubectl, "--kubeconfig", info.Kubeconfig, "get", "nodes", "-o", "wide")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, nodes)
	return err
}

// Exec runs a program on a node and returns its exit code.
func (c *Cluster) Exec(ctx context.Context, host string, argv []string) (int, error) {
	cmd := exec.CommandContext(ctx, "docker", append([]string{"exec", "-i", host}, argv...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}
