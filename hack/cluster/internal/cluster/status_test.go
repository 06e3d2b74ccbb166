// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"
)

func TestPrintStatus(t *testing.T) {
	host := Host{Name: "host-1", IP: "10.99.0.11"}
	linked := host
	linked.PodCIDR, linked.Link, linked.SandboxdAddr = "10.244.1.0/24", "vksbx1", "10.99.0.11:7777"
	for name, tc := range map[string]struct {
		host  Host
		parts []Part
		want  string
		err   string
	}{
		"processes and links": {
			linked, []Part{{Name: "etcd", PID: "7", Health: Healthy}, {Name: "kubelet", PID: "-", Health: "ended"}},
			`Kubernetes v1 at https://x

COMPONENT  PID  HEALTH
etcd       7    healthy
kubelet    -    ended

HOST    IP          PODS           LINK    SANDBOXD         CONTROL
host-1  10.99.0.11  10.244.1.0/24  vksbx1  10.99.0.11:7777  -
`, "not healthy: kubelet; look here",
		},
		"neither": {
			host, []Part{{Name: "worker", Health: Healthy}},
			`Kubernetes v1 at https://x

COMPONENT  HEALTH
worker     healthy

HOST    IP          SANDBOXD  CONTROL
host-1  10.99.0.11  -         -
`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			info := &Info{KubernetesVersion: "v1", APIServer: "https://x", Hosts: []Host{tc.host}}
			err := PrintStatus(&out, info, tc.parts, "look here")
			if out.String() != tc.want {
				t.Errorf("got\n%s\nwant\n%s", &out, tc.want)
			}
			if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}
