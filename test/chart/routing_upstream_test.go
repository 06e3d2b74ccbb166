// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// upstreamExamples returns the folder of agent-sandbox's examples, of the version that the
// clusters of the tests run.
func upstreamExamples(t *testing.T) string {
	t.Helper()
	const module = "sigs.k8s.io/agent-sandbox"
	var out []byte
	for _, args := range [][]string{{"mod", "download", module}, {"list", "-m", "-f", "{{.Dir}}", module}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "../../hack/agent-sandbox"
		cmd.Stderr = os.Stderr
		var err error
		if out, err = cmd.Output(); err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
	}
	return filepath.Join(strings.TrimSpace(string(out)), "examples")
}

// Examples of agent-sandbox run on the virtual nodes as they are.
func TestRoutingServesUpstreamExamples(t *testing.T) {
	tests := map[string]struct {
		template, size string
		warnings       []string
	}{
		"hello-world-sandbox/hello-world.yaml": {
			template: "${IMAGE}", size: "small",
			warnings: []string{"with restartPolicy Never the Pod will not be retried when no microVM is available"},
		},
		"python-runtime-sandbox/sandbox-python-kind.yaml": {template: "sandbox-runtime:latest", size: "small"},
		"aio-sandbox/aio-sandbox.yaml":                    {template: "ghcr.io/agent-infra/sandbox:1.0.0.152", size: "medium"},
		"playwright-sandbox/playwright-sandbox.yaml": {
			template: "${IMAGE}", size: "small",
			warnings: []string{
				"command and args will not run" + microVM,
				"env and envFrom will not be set in the microVM",
				"with restartPolicy Never the Pod will not be retried when no microVM is available",
			},
		},
	}
	examples := upstreamExamples(t)
	r := newRouting(t, install{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(examples, name))
			if err != nil {
				t.Fatal(err)
			}
			sandbox := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(content, &sandbox.Object); err != nil {
				t.Fatal(err)
			}
			sandbox.SetNamespace(routedNamespace)
			check(t, "warnings", test.warnings, r.admit(t, writeSandbox(admission.Create, sandbox)))
			pod := podOf(t, sandbox)
			r.admit(t, createPod(pod))
			checkServed(t, pod)
			check(t, "template", test.template, pod.Annotations[podcontract.AnnotationTemplate])
			check(t, "size", test.size, pod.Annotations[podcontract.AnnotationSize])
		})
	}
}
