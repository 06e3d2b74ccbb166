// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"fmt"
	"strings"
)

// controlPort is where sandboxd takes control requests in its node.
const controlPort = 7778

// config is the kind configuration: one node, or a control plane and as many
// workers as hosts. Every host's control port is published on the machine's
// loopback: where the engine runs in a VM, a node's address can not be reached.
func config(hosts int) string {
	const head = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes:\n- role: control-plane\n"
	ports := fmt.Sprintf("  extraPortMappings:\n  - containerPort: %d\n    listenAddress: 127.0.0.1\n", controlPort)
	if hosts == 1 {
		return head + ports
	}
	return head + strings.Repeat("- role: worker\n"+ports, hosts)
}
