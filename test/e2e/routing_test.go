// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

const runtimeLabel = podcontract.LabelRuntime + "=" + podcontract.RuntimeSandboxd

// plainSandbox is a Sandbox that knows nothing of this project: its image is the
// simulator's template.
func plainSandbox(name string) string {
	return fmt.Sprintf(`
apiVersion: agents.x-k8s.io/v1beta1
kind: Sandbox
metadata:
  name: %s
spec:
  podTemplate:
    metadata:
      labels:
        app: notebook
    spec:
      containers:
        - name: notebook
          image: %s
          resources:
            requests:
              cpu: 250m
              memory: 512Mi
`, name, template)
}

// apply applies objects in the test's namespace.
func (f *fixture) apply(ctx context.Context, text string, flags ...string) error {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	_, err := f.kubectl(ctx, append([]string{"--namespace=" + f.namespace, "apply", "--filename=" + file}, flags...)...)
	return err
}

func (f *fixture) mustApply(text string) {
	f.t.Helper()
	if err := f.apply(f.t.Context(), text); err != nil {
		f.t.Fatal(err)
	}
}

// labelNamespace labels the test's namespace and waits until the API server's admission has
// seen it, which shows by a warning.
func (f *fixture) labelNamespace() {
	f.t.Helper()
	if _, err := f.kubectl(f.t.Context(), "label", "namespace", f.namespace, runtimeLabel); err != nil {
		f.t.Fatal(err)
	}
	eventually(f.t, "the API server's view of the label", func(ctx context.Context) error {
		return f.warned(ctx, plainSandbox("box")+"          command: [sleep, infinity]\n", "command and args will not run")
	})
}

// warned returns an error unless a dry run of the objects has warnings with all parts.
func (f *fixture) warned(ctx context.Context, text string, parts ...string) error {
	f.t.Helper()
	err := f.apply(ctx, text, "--dry-run=server", "--warnings-as-errors")
	switch {
	case err == nil:
		return errors.New("there are no warnings")
	case !containsAll(err.Error(), append(parts, "Warning: ")):
		return fmt.Errorf("want warnings with %q: %w", parts, err)
	}
	return nil
}

// assertRouted waits until the Pod runs and checks that it is on a virtual node, with the
// microVM that its first container describes. It returns the claim's id.
func (f *fixture) assertRouted(name string) (claimID string) {
	f.t.Helper()
	pod := f.waitRunning(name)
	virtual := false
	for _, h := range f.info.Hosts {
		virtual = virtual || pod.Spec.NodeName == h.VirtualNode()
	}
	if !virtual {
		f.t.Errorf("Pod %s is on %s, which is no virtual node", name, pod.Spec.NodeName)
	}
	r := f.history(name)
	if want := (config.Key{Template: template, Net: "none", Size: "small"}); len(r.live) != 1 || r.live[0].Key != want {
		f.t.Errorf("the microVMs of %s are %v, want one of %v", name, r.live, want)
	}
	return pod.Annotations[podcontract.AnnotationClaimID]
}

// assertNotRouted waits for the Pod and checks that it got nothing that leads to a virtual
// node.
func (f *fixture) assertNotRouted(name string) {
	f.t.Helper()
	pod := f.waitPod(name, "there", func(*corev1.Pod) bool { return true })
	if pod.Spec.NodeSelector[podcontract.LabelRuntime] != "" || pod.Annotations[podcontract.AnnotationTemplate] != "" {
		f.t.Errorf("Pod %s has node selector %v and annotations %v", name, pod.Spec.NodeSelector, pod.Annotations)
	}
	for _, toleration := range pod.Spec.Tolerations {
		if toleration.Key == podcontract.TaintKey {
			f.t.Errorf("Pod %s tolerates %s", name, toleration.Key)
		}
	}
}

// waitReady waits for the Sandbox's condition, which the agent-sandbox controller sets.
func (f *fixture) waitReady(sandbox string) {
	f.t.Helper()
	_, err := f.kubectl(f.t.Context(), "--namespace="+f.namespace, "wait", "--for=condition=Ready", "sandbox/"+sandbox, "--timeout="+patience.String())
	if err != nil {
		f.t.Fatal(err)
	}
}

// TestUpstreamExample checks that an example of agent-sandbox runs on a microVM as it is.
// Its image is left to its users. It runs alone, because with restartPolicy Never a Pod
// fails while other tests use up the warm microVMs.
func TestUpstreamExample(t *testing.T) {
	f := newFixture(t)
	f.labelNamespace()
	module, err := run(t.Context(), "go", "list", "-C", root+"/hack/agent-sandbox", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/agent-sandbox")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(strings.TrimSpace(module), "examples/hello-world-sandbox/hello-world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f.mustApply(strings.Replace(string(content), "${IMAGE}", template, 1))
	f.assertRouted("hello-world")
	f.waitReady("hello-world")
}

// TestRoutedNamespace checks that an unmodified Sandbox of a labelled namespace gets a
// microVM, and that a Pod of no Sandbox stays away from the virtual nodes.
func TestRoutedNamespace(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.labelNamespace()
	f.mustApply(plainSandbox("box"))
	f.assertRouted("box")
	f.waitReady("box")

	foreign := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "foreign"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: template, ImagePullPolicy: corev1.PullNever}}},
	}
	if _, err := f.client.CoreV1().Pods(f.namespace).Create(t.Context(), foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	f.assertNotRouted("foreign")
}

// TestRoutedSandbox checks that a single Sandbox can be labelled: at its creation, or
// before its next Pod.
func TestRoutedSandbox(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustApply(strings.Replace(plainSandbox("box"), "  name: box\n", "  name: box\n  labels: {"+strings.Replace(runtimeLabel, "=", ": ", 1)+"}\n", 1))
	f.assertRouted("box")
	f.waitReady("box")

	f.mustApply(plainSandbox("other"))
	f.assertNotRouted("other")
	for _, args := range [][]string{{"label", "sandbox/other", runtimeLabel}, {"delete", "pod/other", "--timeout=" + patience.String()}} {
		if _, err := f.kubectl(t.Context(), append([]string{"--namespace=" + f.namespace}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	f.assertRouted("other")
}

// TestRoutedTemplate checks that the label of a SandboxTemplate routes the Pods of its warm
// pool, and that a SandboxClaim gets the pool's microVM.
func TestRoutedTemplate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustApply(fmt.Sprintf(`
apiVersion: extensions.agents.x-k8s.io/v1beta1
kind: SandboxTemplate
metadata:
  name: notebook
  labels: {%s: %s}
spec:
  podTemplate:
    spec:
      containers: [{name: notebook, image: %q}]
---
apiVersion: extensions.agents.x-k8s.io/v1beta1
kind: SandboxWarmPool
metadata: {name: pool}
spec: {replicas: 1, sandboxTemplateRef: {name: notebook}}
`, podcontract.LabelRuntime, podcontract.RuntimeSandboxd, template))
	name := f.onlyPod()
	id := f.assertRouted(name)

	f.createExtension(sandboxClaims, "SandboxClaim", "mine", map[string]any{"warmPoolRef": map[string]any{"name": "pool"}})
	if got := f.claimedSandbox("mine"); got != name {
		t.Errorf("the claim got Sandbox %q, want the pool's %s", got, name)
	}
	f.assertOneAlive(name, id)
}

// onlyPod waits for the namespace's only Pod and returns its name.
func (f *fixture) onlyPod() (name string) {
	f.t.Helper()
	eventually(f.t, "Pod of the warm pool", func(ctx context.Context) error {
		pods, err := f.client.CoreV1().Pods(f.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(pods.Items) != 1 {
			return fmt.Errorf("there are %d Pods, want 1", len(pods.Items))
		}
		name = pods.Items[0].Name
		return nil
	})
	return name
}

// TestRoutingWarns checks that kubectl shows what a microVM does not have.
func TestRoutingWarns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	text := plainSandbox("box") + `          command: [sleep, infinity]
          volumeMounts: [{name: work, mountPath: /work}]
      volumes: [{name: work, emptyDir: {}}]
      initContainers: [{name: prepare, image: prepare}]
`
	if err := f.apply(t.Context(), text, "--dry-run=server", "--warnings-as-errors"); err != nil {
		t.Errorf("a Sandbox that is not routed: %v", err)
	}
	f.labelNamespace()
	if err := f.warned(t.Context(), text, "command and args will not run", "volumes will not be mounted", "init containers will not run"); err != nil {
		t.Error(err)
	}
	if err := f.apply(t.Context(), plainSandbox("box"), "--dry-run=server", "--warnings-as-errors"); err != nil {
		t.Errorf("a Sandbox that asks for nothing else: %v", err)
	}
}
