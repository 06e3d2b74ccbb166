// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

// auditPolicyName is the API server's audit policy among the configuration files.
const auditPolicyName = "audit-policy.json"

// writeAuditPolicy asks for a record of who was answered what, for the service
// accounts of what is installed on the cluster: tests compare it with the rights
// that these have been given.
func writeAuditPolicy(p paths) error {
	return writeJSON(p.config(auditPolicyName), object{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []object{
			{"level": "None", "userGroups": []string{"system:serviceaccounts:kube-system"}},
			{"level": "Metadata", "userGroups": []string{"system:serviceaccounts"}},
			{"level": "None"},
		},
	})
}
