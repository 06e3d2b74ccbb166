// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clusterinfo reads what hack/cluster writes down about the cluster it
// runs: how to talk to it, where each host's simulated sandboxd is, and what its API
// server has recorded.
package clusterinfo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DirVariable names the environment variable with the cluster's state folder.
const DirVariable = "VK_SANDBOX_CLUSTER_DIR"

// Info is the part of cluster.json that the tests and the demo use.
type Info struct {
	Driver     string `json:"driver"`
	Kubeconfig string `json:"kubeconfig"`
	Kubectl    string `json:"kubectl"`
	Helm       string `json:"helm"`
	// AuditLog is the API server's record of the requests of service accounts;
	// empty where the cluster keeps none.
	AuditLog string `json:"auditLog"`
	Hosts    []Host `json:"hosts"`
}

// Host is one host of the cluster.
type Host struct {
	// Name is the name of the host's own Node.
	Name string `json:"name"`
	IP   string `json:"ip"`
	// SandboxdAddr is the owner address of the claims of the host's sandboxd.
	SandboxdAddr string `json:"sandboxdAddr"`
	// SandboxdControlURL is the simulator's control API, reachable from here.
	SandboxdControlURL string `json:"sandboxdControlURL"`
	// SandboxdTokenFile holds the root token.
	SandboxdTokenFile string `json:"sandboxdTokenFile"`
}

// VirtualNode is the name of the virtual node that the chart gives the host.
func (h Host) VirtualNode() string { return h.Name + "-sandboxd" }

// Load reads the description of the cluster that runs now. It looks in the
// folder that the environment names, or in .cluster under root, the top of the
// repository. The error says how to start a cluster when there is none.
func Load(root string) (*Info, error) {
	dir := os.Getenv(DirVariable)
	if dir == "" {
		dir = filepath.Join(root, ".cluster")
	}
	content, err := os.ReadFile(filepath.Join(dir, "cluster.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no cluster is up in %s; start one with \"make cluster-up\"", dir)
	}
	if err != nil {
		return nil, err
	}
	info := &Info{}
	if err := json.Unmarshal(content, info); err != nil {
		return nil, fmt.Errorf("read the cluster's description: %w", err)
	}
	for _, h := range info.Hosts {
		if h.SandboxdControlURL == "" {
			return nil, fmt.Errorf("host %s runs no sandboxd; start the cluster with \"make cluster-up\"", h.Name)
		}
	}
	return info, nil
}
