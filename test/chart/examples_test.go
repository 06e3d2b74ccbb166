// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const examplesDir = "../../examples/"

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// podTemplates returns the Pods and Pod templates of all examples.
func podTemplates(t *testing.T) map[string]*corev1.Pod {
	t.Helper()
	found := map[string]*corev1.Pod{"pod.yaml": {}}
	readYAML(t, examplesDir+"pod.yaml", found["pod.yaml"])
	for _, name := range []string{"sandbox.yaml", "sandboxtemplate.yaml"} {
		var wrapped struct {
			APIVersion, Kind string
			Metadata         map[string]string
			Spec             struct{ PodTemplate corev1.PodTemplateSpec }
		}
		readYAML(t, examplesDir+name, &wrapped)
		template := wrapped.Spec.PodTemplate
		found[name] = &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	}
	return found
}

// Every example Pod must be scheduled to the chart's virtual node and be valid there.
func TestExamplesAreServed(t *testing.T) {
	for name, pod := range podTemplates(t) {
		t.Run(name, func(t *testing.T) {
			checkServed(t, pod)
			if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
				t.Error("restartPolicy Never gives up at the first lack of capacity")
			}
		})
	}
}

// The chart lets the daemon read the owner of the examples' Pods.
func TestExampleOwnerIsReadable(t *testing.T) {
	var example metav1.PartialObjectMetadata
	text, err := os.ReadFile(examplesDir + "sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &example); err != nil {
		t.Fatal(err)
	}
	group, plural := example.GroupVersionKind().Group, strings.ToLower(example.Kind)+"es"
	if _, ok := reasons[right{"", group, plural, "get"}]; !ok {
		t.Errorf("the chart gives no right to get %s.%s", plural, group)
	}
}

// checkServed checks that the Pod leads to the chart's virtual node and is valid there.
func checkServed(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	nodeLabels, err := labels.ConvertSelectorToLabelsMap(argument(t, container(t, render(t, install{})), "--node-labels", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := podcontract.ClaimRequest(pod); err != nil {
		t.Errorf("no claim: %v", err)
	}
	selector := pod.Spec.NodeSelector
	if selector[podcontract.LabelRuntime] == "" || !labels.SelectorFromSet(selector).Matches(nodeLabels) {
		t.Errorf("node selector %v does not lead to a node labelled %v", selector, nodeLabels)
	}
	taint := corev1.Taint{Key: podcontract.TaintKey, Value: podcontract.TaintValue, Effect: corev1.TaintEffectNoSchedule}
	tolerated := false
	for _, toleration := range pod.Spec.Tolerations {
		tolerated = tolerated || toleration.ToleratesTaint(klog.Background(), &taint, false)
	}
	if !tolerated {
		t.Errorf("tolerations %v do not cover %s", pod.Spec.Tolerations, taint.ToString())
	}
}
