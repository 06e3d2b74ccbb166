// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// fakeMachine answers commands by their first words and notes them.
type fakeMachine struct {
	answers map[string]string
	fail    string
	ran     []string
	inputs  []string
}

func (m *fakeMachine) run(_ context.Context, input, program string, args ...string) (string, error) {
	line := strings.Join(append([]string{filepath.Base(program)}, args...), " ")
	m.ran = append(m.ran, line)
	m.inputs = append(m.inputs, input)
	if m.fail != "" && strings.HasPrefix(line, m.fail) {
		return "", errors.New("it fails")
	}
	for prefix, answer := range m.answers {
		if strings.HasPrefix(line, prefix) {
			return answer, nil
		}
	}
	return "", nil
}

func newCluster(t *testing.T, m *fakeMachine) *Cluster {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "progress"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &Cluster{
		State: t.TempDir(), Progress: progress.New(f), Run: m.run,
		LookPath: func(program string) (string, error) { return program, nil },
		Build: func(context.Context) (map[string]string, error) {
			return map[string]string{"kubectl": "/cache/kubectl", "helm": "/cache/helm"}, nil
		},
	}
}

func twoHosts() *fakeMachine {
	return &fakeMachine{answers: map[string]string{
		"kind get nodes":                     "vk-sandbox-worker\nvk-sandbox-control-plane\nvk-sandbox-worker2\n",
		"docker inspect":                     "172.18.0.3\n",
		"kubectl --kubeconfig":               "v1.37.0",
		"docker version":                     "28.0.0",
		"kind get clusters":                  "other\n",
		"kind export kubeconfig --name vk-s": "",
	}}
}

func TestUp(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: "/build/sandboxd-sim"}); err != nil {
		t.Fatal(err)
	}
	create := slices.IndexFunc(m.ran, func(s string) bool { return strings.HasPrefix(s, "kind create cluster --name vk-sandbox") })
	if create < 0 || strings.Count(m.inputs[create], "role: worker") != 2 || !strings.Contains(m.ran[create], c.kubeconfig()) {
		t.Fatalf("creation: %v", m.ran)
	}
	starts := 0
	for _, line := range m.ran {
		if strings.HasPrefix(line, "docker exec vk-sandbox-worker") && strings.Contains(line, "--advertise-addr 172.18.0.3:7777") {
			starts++
		}
	}
	if starts != 2 {
		t.Errorf("sandboxd started %d times: %v", starts, m.ran)
	}
	info, err := cluster.Load(c.State)
	if err != nil {
		t.Fatal(err)
	}
	if info.Driver != "kind" || len(info.Hosts) != 2 || info.Hosts[1].SandboxdControlURL != "http://172.18.0.3:7778" || info.KubernetesVersion != "v1.37.0" {
		t.Errorf("cluster.json: %+v", info)
	}
	for _, name := range []string{"kubectl", "helm"} {
		if target, err := os.Readlink(filepath.Join(c.State, "bin", name)); err != nil || target != "/cache/"+name {
			t.Errorf("%s: %q, %v", name, target, err)
		}
	}
}

func TestUpTwice(t *testing.T) {
	m := twoHosts()
	m.answers["kind get clusters"] = "other\nvk-sandbox\n"
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(m.ran, func(s string) bool { return strings.HasPrefix(s, "kind create") }) {
		t.Errorf("created again: %v", m.ran)
	}
	err := c.Up(t.Context(), cluster.Options{Hosts: 3})
	if err == nil || !strings.Contains(err.Error(), "cluster down") {
		t.Errorf("another number of hosts: %v", err)
	}
}

func TestConfigOfOneHost(t *testing.T) {
	if got := config(1); strings.Contains(got, "worker") || strings.Count(got, "role:") != 1 {
		t.Errorf("config(1) = %s", got)
	}
}

func TestCheckSaysWhatIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		missing, fail, says string
	}{
		"kind":          {missing: "kind", says: "go install sigs.k8s.io/kind"},
		"docker":        {missing: "docker", says: "install Docker"},
		"docker engine": {fail: "docker version", says: "running Docker engine"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, &fakeMachine{fail: test.fail})
			c.LookPath = func(program string) (string, error) {
				if program == test.missing {
					return "", errors.New("not found")
				}
				return program, nil
			}
			for command, err := range map[string]error{
				"up": c.Up(t.Context(), cluster.Options{Hosts: 1}), "down": c.Down(t.Context()),
			} {
				if err == nil || !strings.Contains(err.Error(), test.says) {
					t.Errorf("%s: %v", command, err)
				}
			}
		})
	}
}

func TestDown(t *testing.T) {
	m := twoHosts()
	c := newCluster(t, m)
	if err := c.Up(t.Context(), cluster.Options{Hosts: 2}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.ContainsFunc(m.ran, func(s string) bool { return strings.HasPrefix(s, "kind delete cluster --name vk-sandbox") }) {
		t.Errorf("not deleted: %v", m.ran)
	}
	if _, err := cluster.Load(c.State); !errors.Is(err, cluster.ErrNotUp) {
		t.Errorf("cluster.json after down: %v", err)
	}
}
