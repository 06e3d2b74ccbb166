// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// TestServiceAccount asks the API server what the daemon's account may do.
func TestServiceAccount(t *testing.T) {
	t.Parallel()
	account := "--as=" + daemonUser
	for question, want := range map[string]string{
		"get secrets":                                     "no",
		"list secrets":                                    "no",
		"watch secrets":                                   "no",
		"list configmaps":                                 "no",
		"list services":                                   "no",
		"create pods":                                     "no",
		"update pods":                                     "no",
		"delete nodes":                                    "no",
		"list sandboxes.agents.x-k8s.io":                  "no",
		"delete sandboxes.agents.x-k8s.io":                "no",
		"create serviceaccounts/token":                    "no",
		"get namespaces":                                  "no",
		"list namespaces":                                 "no",
		"list apiservices.apiregistration.k8s.io":         "no",
		"get namespaces/kube-system":                      "yes",
		"get apiservices.apiregistration.k8s.io":          "yes",
		"get sandboxes.agents.x-k8s.io":                   "yes",
		"watch pods":                                      "yes",
		"patch pods --subresource=status":                 "yes",
		"create nodes":                                    "yes",
		"create events":                                   "yes",
		"patch nodes --subresource=status":                "yes",
		"update pods --subresource=status":                "no",
		"create pods --subresource=exec":                  "no",
		"list nodeclaimstatuses.sandbox.cocoonstack.io":   "no",
		"delete nodeclaimstatuses.sandbox.cocoonstack.io": "no",
		"watch nodeclaimstatuses.sandbox.cocoonstack.io":  "yes",
		"patch nodeclaimstatuses.sandbox.cocoonstack.io":  "yes",
		"patch nodeclaimstatuses.sandbox.cocoonstack.io --subresource=status":  "yes",
		"update nodeclaimstatuses.sandbox.cocoonstack.io --subresource=status": "no",
		"create pods --subresource=eviction":                                   "no",
	} {
		t.Run(question, func(t *testing.T) {
			args := append([]string{"auth", "can-i"}, strings.Fields(question)...)
			// A "no" is an exit code of 1 as well.
			got, err := shared.kubectl(t.Context(), append(args, account, "--all-namespaces")...)
			if got = strings.TrimSpace(got); got != want {
				t.Errorf("answer %q, want %q (%v)", got, want, err)
			}
		})
	}
}
