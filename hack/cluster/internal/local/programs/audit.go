// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// auditPolicyName is the API server's audit policy among the configuration files.
const auditPolicyName = "audit-policy.json"

// WriteAuditPolicy asks for a record of who was answered what, for the service
// accounts of what is installed on the cluster: tests compare it with the rights
// that these have been given.
func WriteAuditPolicy(p layout.Paths) error {
	return identity.WriteJSON(p.Config(auditPolicyName), identity.Object{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []identity.Object{
			{"level": "None", "userGroups": []string{"system:serviceaccounts:kube-system"}},
			{"level": "Metadata", "userGroups": []string{"system:serviceaccounts"}},
			{"level": "None"},
		},
	})
}
