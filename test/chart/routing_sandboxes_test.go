// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"sigs.k8s.io/yaml"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// sandboxObject returns a Sandbox or SandboxTemplate with this YAML.
func sandboxObject(t *testing.T, kind, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	group := "agents.x-k8s.io"
	if kind != "Sandbox" {
		group = "extensions." + group
	}
	object := &unstructured.Unstructured{}
	header := fmt.Sprintf(`{"apiVersion": "%s/v1beta1", "kind": %q, `, group, kind)
	if err := object.UnmarshalJSON([]byte(header + string(content[1:]))); err != nil {
		t.Fatal(err)
	}
	object.SetName("box")
	object.SetNamespace(namespace)
	return object
}

func writeSandbox(operation admission.Operation, object *unstructured.Unstructured) request {
	return request{user: "admin", operation: operation, resource: strings.ToLower(object.GetKind()) + "es", object: object}
}

func writeTemplate(operation admission.Operation, object *unstructured.Unstructured) request {
	r := writeSandbox(operation, object)
	r.resource = "sandboxtemplates"
	return r
}

// podOf returns the Pod that the agent-sandbox controller creates for the Sandbox.
func podOf(t *testing.T, sandbox *unstructured.Unstructured) *corev1.Pod {
	t.Helper()
	var content struct {
		Spec struct {
			PodTemplate corev1.PodTemplateSpec `json:"podTemplate"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(sandbox.Object, &content); err != nil {
		t.Fatal(err)
	}
	template := content.Spec.PodTemplate
	pod := sandboxPod(inNamespace(sandbox.GetNamespace()))
	pod.Labels, pod.Annotations, pod.Spec = template.Labels, template.Annotations, template.Spec
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(sandbox, sandbox.GroupVersionKind())}
	return pod
}

// The runtime's label of a Sandbox or SandboxTemplate gets into its Pod template, and so
// into its Pods.
func TestRoutingCopiesTheLabel(t *testing.T) {
	const label = `metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}`
	const want = `
metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}
spec: {podTemplate: {metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}, spec: {}}}`
	owned := func(apiVersion, kind string) string {
		return fmt.Sprintf(`
metadata:
  labels: {sandbox.cocoonstack.io/runtime: sandboxd}
  ownerReferences: [{apiVersion: %s, kind: %s, name: a, uid: b, controller: true}]
spec: {podTemplate: {spec: {}}}`, apiVersion, kind)
	}
	tests := map[string]struct{ given, want string }{ // want is given if empty
		"no metadata":        {given: label + "\nspec: {podTemplate: {spec: {}}}", want: want},
		"empty metadata":     {given: label + "\nspec: {podTemplate: {metadata: {}, spec: {}}}", want: want},
		"empty labels":       {given: label + "\nspec: {podTemplate: {metadata: {labels: {}}, spec: {}}}", want: want},
		"the label is there": {given: want},
		"other metadata": {
			given: label + "\nspec: {podTemplate: {metadata: {labels: {a: b}, annotations: {c: d}}}}",
			want:  label + "\nspec: {podTemplate: {metadata: {labels: {a: b, sandbox.cocoonstack.io/runtime: sandboxd}, annotations: {c: d}}}}",
		},
		"another runtime": {
			given: "metadata: {labels: {sandbox.cocoonstack.io/runtime: other}}\nspec: {podTemplate: {spec: {}}}",
			want: `
metadata: {labels: {sandbox.cocoonstack.io/runtime: other}}
spec: {podTemplate: {metadata: {labels: {sandbox.cocoonstack.io/runtime: other}}, spec: {}}}`,
		},
		"another runtime of the Pod template": {given: label + "\nspec: {podTemplate: {metadata: {labels: {sandbox.cocoonstack.io/runtime: other}}}}"},
		"no Pod template, which is invalid":   {given: label + "\nspec: {}"},
		"not labelled":                        {given: "metadata: {labels: {a: b}}\nspec: {podTemplate: {spec: {}}}"},
		"no labels":                           {given: "spec: {podTemplate: {spec: {}}}"},
		"of a SandboxClaim":                   {given: owned("extensions.agents.x-k8s.io/v1beta1", "SandboxClaim")},
		"of a SandboxWarmPool":                {given: owned("extensions.agents.x-k8s.io/v1beta1", "SandboxWarmPool")},
		"of another controller":               {given: owned("example.com/v1", "Fleet"), want: strings.Replace(owned("example.com/v1", "Fleet"), "{spec: {}}", "{metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}, spec: {}}", 1)},
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		if test.want == "" {
			test.want = test.given
		}
		for _, operation := range []admission.Operation{admission.Create, admission.Update} {
			t.Run(name+", "+string(operation), func(t *testing.T) {
				object := sandboxObject(t, "Sandbox", "team-red", test.given)
				r.admit(t, writeSandbox(operation, object))
				check(t, "Sandbox", sandboxObject(t, "Sandbox", "team-red", test.want), object)

				object = sandboxObject(t, "SandboxTemplate", "team-red", test.given)
				r.admit(t, writeTemplate(operation, object))
				check(t, "SandboxTemplate", sandboxObject(t, "SandboxTemplate", "team-red", test.want), object)
			})
		}
	}
}

// Removing the label from a Sandbox changes nothing else, and is not refused.
func TestRoutingAllowsRemovingTheLabel(t *testing.T) {
	const spec = "spec: {podTemplate: {metadata: {labels: {a: b}}, spec: {}}}"
	object := sandboxObject(t, "Sandbox", "team-red", spec)
	update := writeSandbox(admission.Update, object)
	update.previous = sandboxObject(t, "Sandbox", "team-red", "metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}\n"+spec)
	newRouting(t, install{}).admit(t, update)
	check(t, "Sandbox", sandboxObject(t, "Sandbox", "team-red", spec), object)
}

// A Sandbox as its users write it, without anything for this project, becomes a Pod that
// the chart's virtual nodes serve.
func TestRoutingServesUnchangedSandboxes(t *testing.T) {
	tests := map[string]struct {
		text string
		want map[string]string
	}{
		"as short as can be": {
			text: `spec: {podTemplate: {spec: {containers: [{name: agent, image: python}]}}}`,
			want: map[string]string{podcontract.AnnotationTemplate: "python", podcontract.AnnotationSize: "small"},
		},
		"with much in it": {
			text: `
metadata: {labels: {app: notebook}}
spec:
  shutdownTime: "2100-01-01T00:00:00Z"
  service: true
  podTemplate:
    metadata: {labels: {app: notebook}, annotations: {team: red}}
    spec:
      serviceAccountName: notebook
      terminationGracePeriodSeconds: 5
      volumes: [{name: work, emptyDir: {}}]
      containers:
        - name: notebook
          image: quay.io/jupyter/base-notebook:2025-01-01
          command: [start-notebook.py]
          env: [{name: TOKEN, value: ""}]
          ports: [{containerPort: 8888}]
          resources: {requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: "2", memory: 4Gi}}
          volumeMounts: [{name: work, mountPath: /work}]
          readinessProbe: {httpGet: {port: 8888}}`,
			want: map[string]string{
				podcontract.AnnotationTemplate: "quay.io/jupyter/base-notebook:2025-01-01", podcontract.AnnotationSize: "small", "team": "red",
			},
		},
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		for where, namespace := range map[string]string{"namespace labelled": routedNamespace, "Sandbox labelled": "team-red"} {
			t.Run(name+", "+where, func(t *testing.T) {
				sandbox := sandboxObject(t, "Sandbox", namespace, test.text)
				if namespace != routedNamespace {
					sandbox.SetLabels(map[string]string{podcontract.LabelRuntime: podcontract.RuntimeSandboxd})
				}
				r.admit(t, writeSandbox(admission.Create, sandbox))
				pod := podOf(t, sandbox)
				r.admit(t, createPod(pod))
				checkServed(t, pod)
				want := maps.Clone(test.want)
				want[podcontract.AnnotationRuntime] = podcontract.RuntimeSandboxd
				check(t, "annotations", want, pod.Annotations)
			})
		}
	}
}

const persistent = "the Pod will not get a microVM: files in its persistent volumes would be lost"

const microVM = ": the microVM runs what its template contains"

// unserved are the parts of a Sandbox that a microVM does not have, with their warnings.
func unserved() map[string]struct{ pod, container, want string } {
	return map[string]struct{ pod, container, want string }{
		"init containers":         {pod: `initContainers: [{name: i, image: i}]`, want: "init containers will not run" + microVM},
		"command":                 {container: `command: [sh]`, want: "command and args will not run" + microVM},
		"args":                    {container: `args: [-c]`, want: "command and args will not run" + microVM},
		"env":                     {container: `env: [{name: A, value: b}]`, want: "env and envFrom will not be set in the microVM"},
		"envFrom":                 {container: `envFrom: [{secretRef: {name: a}}]`, want: "env and envFrom will not be set in the microVM"},
		"volumes":                 {pod: `volumes: [{name: a, emptyDir: {}}]`, want: "volumes will not be mounted into the microVM"},
		"a volume and a token":    {pod: `volumes: [{name: kube-api-access-x2x, projected: {}}, {name: a, emptyDir: {}}]`, want: "volumes will not be mounted into the microVM"},
		"volume claim":            {pod: `volumes: [{name: a, persistentVolumeClaim: {claimName: a}}]`, want: persistent},
		"NFS":                     {pod: `volumes: [{name: a, nfs: {server: a, path: b}}]`, want: persistent},
		"iSCSI":                   {pod: `volumes: [{name: a, iscsi: {iqn: a}}]`, want: persistent},
		"Fibre Channel":           {pod: `volumes: [{name: a, fc: {lun: 1}}]`, want: persistent},
		"token":                   {pod: `automountServiceAccountToken: true`, want: "the microVM will not get a service account token"},
		"account":                 {pod: `serviceAccountName: agent`, want: "the microVM will not get a service account token"},
		"liveness probe":          {container: `livenessProbe: {exec: {command: [a]}}`, want: "probes will not run: containers are ready once the Pod has its microVM"},
		"readiness probe":         {container: `readinessProbe: {exec: {command: [a]}}`, want: "probes will not run: containers are ready once the Pod has its microVM"},
		"startup probe":           {container: `startupProbe: {exec: {command: [a]}}`, want: "probes will not run: containers are ready once the Pod has its microVM"},
		"lifecycle hooks":         {container: `lifecycle: {preStop: {exec: {command: [a]}}}`, want: "lifecycle hooks will not run"},
		"runtime class":           {pod: `runtimeClassName: gvisor`, want: "the runtime class will not be used, but its scheduling rules apply"},
		"restartPolicy Never":     {pod: `restartPolicy: Never`, want: "with restartPolicy Never the Pod will not be retried when no microVM is available"},
		"nothing":                 {},
		"resources and ports":     {container: `{resources: {limits: {cpu: "1"}}, ports: [{containerPort: 80}]}`},
		"what the cluster adds":   {pod: `{serviceAccountName: default, volumes: [{name: kube-api-access-x2x, projected: {}}], restartPolicy: Always}`},
		"account, no token":       {pod: `{serviceAccountName: agent, automountServiceAccountToken: false}`},
		"no token":                {pod: `automountServiceAccountToken: false`},
		"restartPolicy OnFailure": {pod: `restartPolicy: OnFailure`},
	}
}

// podSpecWith returns a Pod's spec with fields of its own and of its only container.
func podSpecWith(t *testing.T, pod, container string) map[string]any {
	t.Helper()
	spec, only := parsed(t, pod), parsed(t, container)
	only["name"], only["image"] = "agent", sandboxImage
	spec["containers"] = []any{only}
	return spec
}

func asYAML(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRoutingWarns(t *testing.T) {
	r := newRouting(t, install{})
	for name, test := range unserved() {
		var want []string
		if test.want != "" {
			want = []string{test.want}
		}
		podSpec := podSpecWith(t, test.pod, test.container)
		text := asYAML(t, map[string]any{"spec": map[string]any{"podTemplate": map[string]any{"spec": podSpec}}})
		t.Run(name, func(t *testing.T) {
			sandbox := sandboxObject(t, "Sandbox", routedNamespace, text)
			check(t, "warnings about a Sandbox", want, r.admit(t, writeSandbox(admission.Create, sandbox)))
			pod := podOf(t, sandbox)
			check(t, "warnings about a Sandbox's Pod", want, r.admit(t, createPod(pod)))
			check(t, "the daemon refuses the Pod", test.want == persistent, len(podcontract.PersistentVolumes(pod.Spec.Volumes)) > 0)
			template := sandboxObject(t, "SandboxTemplate", routedNamespace, text)
			check(t, "warnings about a SandboxTemplate", want, r.admit(t, writeTemplate(admission.Create, template)))

			elsewhere := sandboxObject(t, "Sandbox", "team-red", text)
			check(t, "warnings about a Sandbox that is not routed", nil, r.admit(t, writeSandbox(admission.Create, elsewhere)))
			check(t, "warnings about a Pod that is not routed", nil, r.admit(t, createPod(podOf(t, elsewhere))))
			notOwned := podOf(t, sandbox)
			notOwned.OwnerReferences, notOwned.Spec.NodeSelector = nil, map[string]string{podcontract.LabelRuntime: podcontract.RuntimeSandboxd}
			check(t, "warnings about a Pod of no Sandbox", nil, r.admit(t, createPod(notOwned)))
		})
	}
}

// TestRoutingWarnsOfEverything has one warning for each thing.
func TestRoutingWarnsOfEverything(t *testing.T) {
	all := podSpecWith(t, "", "")
	want := []string{
		"only the first container chooses the microVM, the others will not run",
		persistent,
	}
	container := all["containers"].([]any)[0].(map[string]any)
	for _, test := range unserved() {
		if test.want != "" {
			maps.Copy(all, parsed(t, test.pod))
			maps.Copy(container, parsed(t, test.container))
			want = append(want, test.want)
		}
	}
	all["volumes"] = []any{map[string]any{"name": "a", "emptyDir": map[string]any{}}}
	all["containers"] = []any{container, map[string]any{"name": "other", "image": "other"}}
	text := asYAML(t, map[string]any{"spec": map[string]any{
		"podTemplate": map[string]any{"spec": all}, "volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "work"}}},
	}})
	r := newRouting(t, install{})
	check(t, "warnings elsewhere", nil, r.admit(t, writeSandbox(admission.Create, sandboxObject(t, "Sandbox", "team-red", text))))
	got := r.admit(t, writeSandbox(admission.Create, sandboxObject(t, "Sandbox", routedNamespace, text)))
	slices.Sort(want)
	slices.Sort(got)
	check(t, "warnings", slices.Compact(want), got)
}

// The warnings are for whoever routes a Sandbox, by whichever way.
func TestRoutingWarnsWhereItRoutes(t *testing.T) {
	const key = podcontract.LabelRuntime
	template := func(metadata, nodeSelector string) string {
		return fmt.Sprintf("spec: {podTemplate: {metadata: {%s}, spec: {nodeSelector: {%s}, containers: [{name: a, image: b, args: [c]}]}}}", metadata, nodeSelector)
	}
	tests := map[string]struct {
		namespace, text string
		want            bool
	}{
		"namespace":                {routedNamespace, template("", ""), true},
		"Sandbox":                  {"team-red", "metadata: {labels: {" + key + ": sandboxd}}\n" + template("", ""), true},
		"Pod template":             {"team-red", template("labels: {"+key+": sandboxd}", ""), true},
		"node selector":            {"team-red", template("", key+": sandboxd"), true},
		"nothing":                  {"team-red", template("", ""), false},
		"Sandbox for another":      {routedNamespace, "metadata: {labels: {" + key + ": other}}\n" + template("", ""), false},
		"Pod template for another": {routedNamespace, template("labels: {"+key+": other}", ""), false},
		"node selector of another": {routedNamespace, template("", key+": other"), false},
		"annotation of another":    {routedNamespace, template("annotations: {"+key+": other}", ""), false},
		"Sandbox, node selector":   {"team-red", "metadata: {labels: {" + key + ": other}}\n" + template("", key+": sandboxd"), true},
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sandbox := sandboxObject(t, "Sandbox", test.namespace, test.text)
			got := r.admit(t, writeSandbox(admission.Create, sandbox))
			check(t, "warned", test.want, len(got) == 1)
			pod := podOf(t, sandbox)
			check(t, "warned about the Pod", test.want, len(r.admit(t, createPod(pod))) == 1)
			check(t, "selects the virtual nodes", test.want, pod.Spec.NodeSelector[key] == podcontract.RuntimeSandboxd)
		})
	}
}

// The controllers write a Sandbox often, but its spec seldom.
func TestRoutingWarnsOfChangedSpecs(t *testing.T) {
	const spec = `spec: {podTemplate: {spec: {containers: [{name: a, image: b, args: [c]}]}}`
	r := newRouting(t, install{})
	update := writeSandbox(admission.Update, sandboxObject(t, "Sandbox", routedNamespace, "metadata: {annotations: {a: b}}\n"+spec+"}"))
	update.previous = sandboxObject(t, "Sandbox", routedNamespace, spec+"}")
	check(t, "warnings about changed metadata", nil, r.admit(t, update))
	update.previous = sandboxObject(t, "Sandbox", routedNamespace, spec+", operatingMode: Suspended}")
	check(t, "warnings about a changed spec", 1, len(r.admit(t, update)))
}

// What cannot be routed is refused, because it would run on an ordinary node. What cannot
// be checked for warnings is admitted.
func TestRoutingOfWhatItCannotRead(t *testing.T) {
	r := newRouting(t, install{})
	pod := sandboxPod(func(pod *corev1.Pod) { pod.Spec.Containers = nil })
	if _, err := r.try(t, createPod(pod)); err == nil {
		t.Error("a Pod that cannot be routed is admitted")
	}
	pod.Namespace = "team-red"
	r.admit(t, createPod(pod))

	const label = "metadata: {labels: {sandbox.cocoonstack.io/runtime: sandboxd}}\n"
	if _, err := r.try(t, writeSandbox(admission.Create, sandboxObject(t, "Sandbox", "team-red", label+"spec: {podTemplate: 1}"))); err == nil {
		t.Error("a Sandbox that cannot be labelled is admitted")
	}
	const spec = `spec: {podTemplate: {spec: {initContainers: 1, containers: [{name: a, args: [b]}]}}}`
	warned := r.admit(t, writeSandbox(admission.Create, sandboxObject(t, "Sandbox", routedNamespace, spec)))
	check(t, "warnings about the rest", []string{"command and args will not run" + microVM}, warned)
}

// An expression that is too expensive refuses the Pod, or suppresses the warning. Far more
// entries than Pods have are within the API server's limits.
func TestRoutingOfLargeObjects(t *testing.T) {
	list := func(format string) string {
		var items []string
		for i := range 5_000 {
			items = append(items, fmt.Sprintf(format, i))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	tests := map[string]string{
		"tolerations":     "tolerations: " + list("{key: a%d}"),
		"init containers": "initContainers: " + list("{name: a%d}"),
		"volumes":         "volumes: " + list("{name: kube-api-access-%d}"),
		"node selector":   "nodeSelector: {" + strings.Trim(list("a%d: b"), "[]") + "}",
		"containers":      "",
	}
	r := newRouting(t, install{})
	for name, field := range tests {
		t.Run(name, func(t *testing.T) {
			spec := podSpecWith(t, field, `args: [a]`)
			if name == "containers" {
				spec["containers"] = slices.Repeat(spec["containers"].([]any), 5_000)
			}
			sandbox := sandboxObject(t, "Sandbox", routedNamespace, asYAML(t, map[string]any{"spec": map[string]any{"podTemplate": map[string]any{"spec": spec}}}))
			warned := r.admit(t, writeSandbox(admission.Create, sandbox))
			check(t, "warned about args", true, slices.Contains(warned, "command and args will not run"+microVM))
			pod := podOf(t, sandbox)
			warned = r.admit(t, createPod(pod))
			check(t, "warned about the Pod's args", true, slices.Contains(warned, "command and args will not run"+microVM))
			check(t, "node selector", podcontract.RuntimeSandboxd, pod.Spec.NodeSelector[podcontract.LabelRuntime])
		})
	}
}
