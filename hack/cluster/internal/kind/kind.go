// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kind runs a cluster with kind and Docker, behind the same
// sub-commands as the local one. Kind's nodes are the hosts.
package kind

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// Driver is what an Info calls these clusters.
const Driver = "kind"

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
	// NodeImage is the image of the nodes of a new cluster; empty for kind's own
	// choice.
	NodeImage string
}

// name is what kind calls the cluster. Kind knows one cluster of a name on a
// machine, and every state folder has a cluster of its own.
func (c *Cluster) name() string {
	return fmt.Sprintf("vk-sandbox-%x", sha256.Sum256([]byte(c.State)))[:len("vk-sandbox-")+6]
}

func (c *Cluster) kubeconfig() string { return filepath.Join(c.State, "kubeconfig") }

// check reports what this machine lacks.
func (c *Cluster) check(ctx context.Context) error {
	for _, need := range []struct{ program, hint string }{
		{"docker", "install Docker Engine"},
		{"kind", `install it with "go install sigs.k8s.io/kind@v0.33.0"`},
	} {
		if _, err := c.LookPath(need.program); err != nil {
			return fmt.Errorf("CLUSTER=kind needs the program %s, which is not in PATH: %s, or unset CLUSTER to run the cluster without it",
				need.program, need.hint)
		}
	}
	if _, err := c.Run(ctx, "", "docker", "version", "--format", "{{.Server.Version}}"); err != nil {
		return fmt.Errorf("CLUSTER=kind needs a running Docker engine; start it, or unset CLUSTER: %w", err)
	}
	return nil
}

// begin checks the machine and locks the state folder.
func (c *Cluster) begin(ctx context.Context) (unlock func(), err error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	return cluster.LockFolder(ctx, c.State, c.Progress)
}

// running returns the Info of the cluster, or cluster.ErrNotUp.
func (c *Cluster) running(ctx context.Context) (*cluster.Info, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	return cluster.Load(c.State)
}

// exists reports whether kind has the cluster.
func (c *Cluster) exists(ctx context.Context) (bool, error) {
	output, err := c.Run(ctx, "", "kind", "get", "clusters")
	if err != nil {
		return false, err
	}
	return slices.Contains(strings.Fields(output), c.name()), nil
}

// nodes returns the names of all nodes, and of those that are hosts: the
// workers, or the control plane where it is alone.
func (c *Cluster) nodes(ctx context.Context) (all, hosts []string, err error) {
	output, err := c.Run(ctx, "", "kind", "get", "nodes", "--name", c.name())
	if err != nil {
		return nil, nil, err
	}
	all = strings.Fields(output)
	if len(all) == 0 {
		return nil, nil, errors.New(`the kind cluster has no nodes; run "cluster down" first`)
	}
	slices.Sort(all)
	for _, node := range all {
		if !strings.HasSuffix(node, "-control-plane") {
			hosts = append(hosts, node)
		}
	}
	if len(hosts) == 0 {
		hosts = all
	}
	return all, hosts, nil
}
