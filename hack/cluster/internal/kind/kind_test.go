// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

func TestCheckSaysWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		missing, fail, says string
	}{
		"kind":          {missing: "kind", says: "go install sigs.k8s.io/kind"},
		"docker":        {missing: "docker", says: "install Docker"},
		"docker engine": {fail: "docker version", says: "running Docker engine"},
	} {
		t.Run(name, func(t *testing.T) {
			m := twoHosts()
			m.fails[test.fail] = 10
			c := newCluster(t, m)
			c.LookPath = func(program string) (string, error) {
				if program == test.missing {
					return "", errors.New("not found")
				}
				return program, nil
			}
			_, exec := c.Exec(t.Context(), "c-worker", []string{"true"})
			for command, err := range map[string]error{
				"up": c.Up(t.Context(), cluster.Options{Hosts: 1}), "down": c.Down(t.Context()), "exec": exec,
				"status": c.Status(t.Context(), io.Discard), "load-image": c.LoadImage(t.Context(), image.Spec{}),
			} {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", command, err)
				}
			}
			if _, err := os.Stat(c.State); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the state folder: %v", err)
			}
		})
	}
}

func TestNotUp(t *testing.T) {
	c := newCluster(t, twoHosts())
	_, exec := c.Exec(t.Context(), "c-worker", []string{"true"})
	for command, err := range map[string]error{
		"exec": exec, "status": c.Status(t.Context(), io.Discard), "load-image": c.LoadImage(t.Context(), image.Spec{}),
	} {
		if !errors.Is(err, cluster.ErrNotUp) {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestExecOnUnknownHost(t *testing.T) {
	c := newCluster(t, twoHosts())
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "c-control-plane", []string{"true"}); err == nil || !strings.Contains(err.Error(), "no host") {
		t.Errorf("a node that is no host: %v", err)
	}
}

// TestName: kind knows one cluster of a name, and every folder has its own.
func TestName(t *testing.T) {
	one, other := &Cluster{State: "/one"}, &Cluster{State: "/other"}
	if one.name() == other.name() || one.name() != (&Cluster{State: "/one"}).name() || !strings.HasPrefix(one.name(), "vk-sandbox-") {
		t.Errorf("names %s and %s", one.name(), other.name())
	}
}

func TestDown(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: program(t, "one")}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	m.assertRan(t, "kind delete cluster --name "+c.name()+" --kubeconfig "+c.kubeconfig())
	if _, err := cluster.Load(c.State); !errors.Is(err, cluster.ErrNotUp) {
		t.Errorf("cluster.json after down: %v", err)
	}
	if _, err := os.Stat(c.tokenFile()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the token after down: %v", err)
	}
}

func TestDownFails(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	m.fails["kind delete"] = 1
	if err := c.Down(t.Context()); err == nil {
		t.Error("no error")
	}
	if _, err := cluster.Load(c.State); err != nil {
		t.Errorf("the cluster that is still there has no cluster.json: %v", err)
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "podman")
	out, err := Command(t.Context(), "input", "sh", "-c", "cat; echo ${KIND_EXPERIMENTAL_PROVIDER:-unset}")
	if out != "inputunset\n" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	_, err = Command(t.Context(), "", "sh", "-c", "echo first >&2; echo it fails >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || reason(err) != "it fails" {
		t.Errorf("failure: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Command(ctx, "", "sh", "-c", "true"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context's end: %v", err)
	}
}
