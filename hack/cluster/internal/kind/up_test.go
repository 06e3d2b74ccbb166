// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

func TestUp(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: program(t, "one")}); err != nil {
		t.Fatal(err)
	}
	m.assertRan(t, "kind create cluster --name "+c.name()+" --kubeconfig "+c.kubeconfig()+" --config -")
	if strings.Count(m.config, "role: worker") != 2 {
		t.Errorf("configuration: %s", m.config)
	}
	m.assertRan(t, "kubectl --kubeconfig "+c.kubeconfig()+
		" wait --for=condition=Ready --timeout=20s node/c-control-plane node/c-worker node/c-worker2")
	info, err := cluster.Load(c.State)
	if err != nil {
		t.Fatal(err)
	}
	want := cluster.Host{
		Name: "c-worker2", IP: "172.18.0.3", SandboxdAddr: "172.18.0.3:7777",
		SandboxdControlURL: "http://127.0.0.1:41002", SandboxdTokenFile: c.tokenFile(),
	}
	if info.Driver != "kind" || len(info.Hosts) != 2 || info.Hosts[1] != want || info.KubernetesVersion != "v1.37.0" {
		t.Errorf("cluster.json: %+v", info)
	}
	if token, err := os.Stat(c.tokenFile()); err != nil || token.Mode() != 0o600 {
		t.Errorf("the token's file: %v, %v", token, err)
	}
	for _, name := range []string{"kubectl", "helm"} {
		if target, err := os.Readlink(filepath.Join(c.State, "bin", name)); err != nil || target != "/cache/"+name {
			t.Errorf("%s: %q, %v", name, target, err)
		}
	}
}

func TestUpOnANodeImage(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	c.NodeImage = "example/node:v1"
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	m.assertRan(t, "kind create cluster --name "+c.name()+" --kubeconfig "+c.kubeconfig()+" --config - --image example/node:v1")
}

func TestUpTwice(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	m.answers["kind get clusters"] = "other\n" + c.name() + "\n"
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	if m.count("kind create") > 0 {
		t.Errorf("created again: %v", m.ran)
	}
	m.assertRan(t, "docker start c-control-plane c-worker c-worker2")
	m.assertRan(t, "kind export kubeconfig --name "+c.name()+" --kubeconfig "+c.kubeconfig())
	started := m.count("docker start")
	err := c.Up(t.Context(), cluster.Options{Hosts: 3})
	if err == nil || !strings.Contains(err.Error(), "cluster down") || m.count("docker start") > started {
		t.Errorf("another number of hosts: %v", err)
	}
}

// TestHalfACluster: a creation that was killed leaves nodes without a cluster.
func TestHalfACluster(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	m.answers["kind get clusters"] = c.name()
	m.fails["kind export kubeconfig"] = 1
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err == nil || !strings.Contains(err.Error(), "cluster down") {
		t.Errorf("Up: %v", err)
	}
}

func TestFailedCreationIsDeleted(t *testing.T) {
	m := twoHosts()
	m.fails["kind create"] = 1
	c := newCluster(t, m)
	run := c.Run
	ctx, cancel := context.WithCancel(t.Context())
	// As a signal does: what follows runs with a context that has ended.
	c.Run = func(ctx context.Context, input, program string, args ...string) (string, error) {
		if len(args) > 0 && args[0] == "create" {
			defer cancel()
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return run(ctx, input, program, args...)
	}
	if err := c.Up(ctx, cluster.Options{Hosts: 2}); err == nil || !strings.Contains(err.Error(), "it fails") {
		t.Errorf("Up: %v", err)
	}
	m.assertRan(t, "kind delete cluster --name "+c.name()+" --kubeconfig "+c.kubeconfig())
}

// TestUpWaits: an API server that has just begun refuses.
func TestUpWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := twoHosts()
		c := newCluster(t, m)
		wait := "kubectl --kubeconfig " + c.kubeconfig() + " wait"
		m.fails[wait] = 5
		if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
			t.Errorf("after 5 failures: %v", err)
		}
		m.fails[wait] = 1e6
		begin := time.Now()
		err := c.Up(t.Context(), cluster.Options{Hosts: 2})
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it fails") || time.Since(begin) != readyTimeout {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

func TestConfig(t *testing.T) {
	if got := config(1); strings.Contains(got, "worker") || strings.Count(got, "role:") != 1 || strings.Count(got, "containerPort: 7778") != 1 {
		t.Errorf("config(1) = %s", got)
	}
	if got := config(3); strings.Count(got, "role: worker\n  extraPortMappings") != 3 || strings.Count(got, "role:") != 4 {
		t.Errorf("config(3) = %s", got)
	}
}
