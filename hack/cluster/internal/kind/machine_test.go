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
	"sync"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// fakeMachine answers commands by their first words and notes them. It keeps
// the unit of every node's sandboxd.
type fakeMachine struct {
	mu      sync.Mutex
	answers map[string]string
	// fails has how often a command is to fail still.
	fails map[string]int
	ran   []string
	units map[string]string
	// config is what kind was given.
	config string
}

func (m *fakeMachine) run(_ context.Context, input, program string, args ...string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line := strings.Join(append([]string{filepath.Base(program)}, args...), " ")
	m.ran = append(m.ran, line)
	for prefix, left := range m.fails {
		if left > 0 && strings.HasPrefix(line, prefix) {
			m.fails[prefix]--
			return "", &commandError{line: line, said: "first\nit fails", err: errors.New("exit status 1")}
		}
	}
	switch {
	case strings.HasPrefix(line, "kind create"):
		m.config = input
	case strings.Contains(line, "cat "+sandboxdUnit):
		return m.units[args[1]], nil
	case strings.Contains(line, "cat >"+sandboxdUnit):
		m.units[args[2]] = input
	}
	longest := ""
	for prefix := range m.answers {
		if strings.HasPrefix(line, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return m.answers[longest], nil
}

// count returns how many commands began like this.
func (m *fakeMachine) count(prefix string) (n int) {
	for _, line := range m.ran {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func (m *fakeMachine) assertRan(t *testing.T, line string) {
	t.Helper()
	if !slices.Contains(m.ran, line) {
		t.Errorf("%q was not run, but\n%s", line, strings.Join(m.ran, "\n"))
	}
}

// twoHosts is a machine whose kind cluster, once there, has two hosts.
func twoHosts() *fakeMachine {
	return &fakeMachine{
		units: map[string]string{}, fails: map[string]int{},
		answers: map[string]string{
			"kind get nodes":                                   "c-worker2\nc-worker\nc-control-plane\n",
			"kind get clusters":                                "other\n",
			"docker inspect -f {{range":                        "172.18.0.3 \n",
			"docker inspect -f {{.Stat":                        "running\n",
			"docker port c-worker ":                            "127.0.0.1:41001\n",
			"docker port c-worker2 ":                           "127.0.0.1:41002\n",
			"docker exec c-worker sh -c systemctl is-active":   "active\n",
			"docker exec c-worker2 sh -c systemctl is-active":  "active\n",
			"kubectl --kubeconfig KUBECONFIG config view":      "https://127.0.0.1:6443",
			"kubectl --kubeconfig KUBECONFIG get node c-w":     "v1.37.0",
			"kubectl --kubeconfig KUBECONFIG --request-timeou": "True",
		},
	}
}

// newCluster returns a cluster without a folder of its own yet. KUBECONFIG
// stands for its kubeconfig in the machine's answers.
func newCluster(t *testing.T, m *fakeMachine) *Cluster {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "progress"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	c := &Cluster{
		State: filepath.Join(t.TempDir(), "state"), Progress: progress.New(f), Run: m.run,
		LookPath: func(program string) (string, error) { return program, nil },
		Build: func(context.Context) (map[string]string, error) {
			return map[string]string{"kubectl": "/cache/kubectl", "helm": "/cache/helm"}, nil
		},
	}
	for prefix, answer := range m.answers {
		m.answers[strings.Replace(prefix, "KUBECONFIG", c.kubeconfig(), 1)] = answer
	}
	return c
}

// program writes a file that can be sandboxd.
func program(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "sandboxd-sim")
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}
