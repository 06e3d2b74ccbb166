// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func notes(t *testing.T, in install) string {
	t.Helper()
	files, err := renderFiles(t, in)
	if err != nil {
		t.Fatal(err)
	}
	return files["vk-sandbox/templates/NOTES.txt"]
}

// The notes name the next command, the objects that an uninstall keeps and the commands
// that remove them, for the given values.
func TestNotes(t *testing.T) {
	const deleteCRDs = "kubectl delete crd nodeclaimstatuses.sandbox.cocoonstack.io nodeinventories.sandbox.cocoonstack.io\n"
	for name, test := range map[string]struct {
		in              install
		contains, omits []string
	}{
		"alone": {
			contains: []string{
				"helm test vk-sandbox -n sandboxes", "ghcr.io/cocoonstack/sandbox/rt:24.04",
				"kubectl delete nodes -l type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd\n", "NotReady", "kubectl delete node <host>-sandboxd",
				deleteCRDs, "rm -f /var/lib/vk-sandbox/claims.json*\n", "before you uninstall", "NO TOKEN",
			},
			omits: []string{"kubectl label namespace <namespace>", "kubectl label namespaces"},
		},
		"other values": {
			in: install{release: "blue", namespace: "vm", values: `
state: {path: /srv/vk/claims.json}
node: {name: vm-$(HOST_NODE_NAME), labels: {pool: blue}}
crds: {nodeInventory: false}
test: {template: py}
sandboxd: {existingSecret: {name: credential}}`},
			contains: []string{
				"helm test blue -n vm", "template py", "-l type=virtual-kubelet,pool=blue,sandbox.cocoonstack.io/runtime=sandboxd\n",
				"kubectl delete node vm-<host>", "kubectl delete crd nodeclaimstatuses.sandbox.cocoonstack.io\n", "rm -f /srv/vk/claims.json*\n", "After changing the Secret credential",
			},
			omits: []string{"nodeinventories", "NO TOKEN"},
		},
		"routing": {
			in: install{values: `routing: {enabled: true}`},
			contains: []string{
				"kubectl label namespace <namespace> sandbox.cocoonstack.io/runtime=sandboxd\n",
				"kubectl label namespaces -l sandbox.cocoonstack.io/runtime=sandboxd sandbox.cocoonstack.io/runtime-\n",
			},
		},
		"no test, no CRD": {
			in:    install{values: `{test: {enabled: false}, crds: {install: false}}`},
			omits: []string{"helm test", "kubectl delete crd"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := notes(t, test.in)
			for _, part := range test.contains {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in the notes:\n%s", part, text)
				}
			}
			for _, part := range test.omits {
				if strings.Contains(text, part) {
					t.Errorf("%q is in the notes:\n%s", part, text)
				}
			}
		})
	}
}

// The installation guide has the same list for the default values.
func TestGuideListsWhatRemains(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(chartDir, "../../docs/installation.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := notes(t, install{})
	for _, command := range []string{
		"kubectl delete nodes -l type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd\n",
		"kubectl delete crd nodeclaimstatuses.sandbox.cocoonstack.io nodeinventories.sandbox.cocoonstack.io\n",
	} {
		if !strings.Contains(string(content), command) || !strings.Contains(text, command) {
			t.Errorf("%q is missing in docs/installation.md or in the notes", command)
		}
	}
}
