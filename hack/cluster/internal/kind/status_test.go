// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

func TestStatus(t *testing.T) {
	const nodeState = "docker inspect -f {{.State.Status}} "
	for name, test := range map[string]struct {
		// command is what is answered so, or fails if the answer is empty.
		command, answer string
		// bad is what is not healthy, and says is what its line ends in.
		bad, says string
	}{
		"container stopped":  {nodeState + "c-worker2", "exited\n", "c-worker2", "its container is exited"},
		"container gone":     {nodeState + "c-worker2", "", "c-worker2", "unhealthy: it fails"},
		"Node not Ready":     {"kubectl --kubeconfig KUBECONFIG --request-timeout=5s get node c-control-plane", "Unknown", "c-control-plane", "unhealthy: the Node is not Ready"},
		"no API server":      {"kubectl --kubeconfig KUBECONFIG --request-timeout=5s get node c-worker ", "", "c-worker", "unhealthy: it fails"},
		"sandboxd has ended": {"docker exec c-worker sh -c systemctl is-active", "failed\n", "c-worker.sandboxd", "unhealthy: it is failed"},
		"no exec":            {"docker exec c-worker2 sh -c systemctl is-active", "", "c-worker2.sandboxd", "unhealthy: it fails"},
	} {
		t.Run(name, func(t *testing.T) {
			m := twoHosts()
			c := newCluster(t, m)
			if err := c.Up(t.Context(), cluster.Options{Hosts: 2, SandboxdBinary: program(t, "one")}); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := c.Status(t.Context(), &out); err != nil || strings.Count(out.String(), " healthy\n") != 5 {
				t.Fatalf("at first: %v\n%s", err, &out)
			}
			command := strings.Replace(test.command, "KUBECONFIG", c.kubeconfig(), 1)
			if test.answer == "" {
				m.fails[command] = 1
			} else {
				m.answers[command] = test.answer
			}
			out.Reset()
			err := c.Status(t.Context(), &out)
			if err == nil || !strings.Contains(err.Error(), "not healthy: "+test.bad+";") {
				t.Errorf("error: %v", err)
			}
			if strings.Count(out.String(), " healthy\n") != 4 || !strings.Contains(out.String(), "  "+test.says+"\n") {
				t.Errorf("output:\n%s", &out)
			}
		})
	}
}
