// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const sandboxImage = "registry.example.com/agents/python:3.13"

// sandboxPod returns a Pod of a Sandbox as the API server gets it.
func sandboxPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	controller := true
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "box", Namespace: routedNamespace,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: "box", UID: "1", Controller: &controller}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: sandboxImage}}},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func createPod(pod *corev1.Pod) request {
	return request{user: "controller", operation: admission.Create, resource: "pods", object: pod}
}

// routed returns the Pod with what the routing adds to a bare one.
func routed(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.Annotations = map[string]string{
		podcontract.AnnotationRuntime: podcontract.RuntimeSandboxd, podcontract.AnnotationTemplate: sandboxImage, podcontract.AnnotationSize: "small",
	}
	pod.Spec.NodeSelector = map[string]string{podcontract.LabelRuntime: podcontract.RuntimeSandboxd}
	pod.Spec.Tolerations = []corev1.Toleration{{Key: podcontract.TaintKey, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	return pod
}

func inNamespace(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Namespace = name }
}

func labelled(runtime string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels = map[string]string{podcontract.LabelRuntime: runtime} }
}

func annotated(annotations map[string]string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations = annotations }
}

func selecting(labels map[string]string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.NodeSelector = labels }
}

func owned(change func(*metav1.OwnerReference)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { change(&pod.OwnerReferences[0]) }
}

// Pods of Sandboxes are routed if their namespace or they have the label, and all other
// Pods stay as they are.
func TestRoutingChoosesPods(t *testing.T) {
	tests := map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"namespace labelled":            {pod: sandboxPod(), want: true},
		"Pod labelled":                  {pod: sandboxPod(inNamespace("team-red"), labelled("sandboxd")), want: true},
		"both labelled":                 {pod: sandboxPod(labelled("sandboxd")), want: true},
		"later version of the owner":    {pod: sandboxPod(owned(func(o *metav1.OwnerReference) { o.APIVersion = "agents.x-k8s.io/v1" })), want: true},
		"on a given node":               {pod: sandboxPod(func(pod *corev1.Pod) { pod.Spec.NodeName = "host-07-sandboxd" }), want: true},
		"nothing labelled":              {pod: sandboxPod(inNamespace("team-red"))},
		"Pod labelled otherwise":        {pod: sandboxPod(labelled("vk-cocoon"))},
		"Pod labelled, empty":           {pod: sandboxPod(labelled(""))},
		"annotated for another":         {pod: sandboxPod(annotated(map[string]string{podcontract.AnnotationRuntime: "vk-cocoon"}))},
		"selects another":               {pod: sandboxPod(selecting(map[string]string{podcontract.LabelRuntime: "vk-cocoon"}))},
		"no owner":                      {pod: sandboxPod(func(pod *corev1.Pod) { pod.OwnerReferences = nil })},
		"owner does not control":        {pod: sandboxPod(owned(func(o *metav1.OwnerReference) { o.Controller = nil }))},
		"another kind of owner":         {pod: sandboxPod(owned(func(o *metav1.OwnerReference) { o.Kind = "SandboxSet" }))},
		"another group's Sandbox":       {pod: sandboxPod(owned(func(o *metav1.OwnerReference) { o.APIVersion = "example.com/v1beta1" }))},
		"labelled, no owner's Pod":      {pod: sandboxPod(labelled("sandboxd"), func(pod *corev1.Pod) { pod.OwnerReferences = nil })},
		"group that begins like theirs": {pod: sandboxPod(owned(func(o *metav1.OwnerReference) { o.APIVersion = "agents.x-k8s.io.example.com/v1" }))},
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := test.pod.DeepCopy()
			if test.want {
				want = routed(want)
			}
			r.admit(t, createPod(test.pod))
			check(t, "Pod", want, test.pod)
		})
	}
}

// Only the creation of a Pod is changed.
func TestRoutingLeavesExistingPods(t *testing.T) {
	pod := sandboxPod()
	newRouting(t, install{}).admit(t, request{user: "controller", operation: admission.Update, resource: "pods", object: pod})
	check(t, "Pod", sandboxPod(), pod)
}

func TestRoutingKeepsWhatIsSet(t *testing.T) {
	const key = podcontract.TaintKey
	noExecute := corev1.Toleration{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}
	added := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}
	tolerating := func(tolerations ...corev1.Toleration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Spec.Tolerations = tolerations }
	}
	tests := map[string]struct{ given, want func(*corev1.Pod) }{
		"node selector": {
			given: selecting(map[string]string{"kubernetes.io/hostname": "host-07-sandboxd"}),
			want:  selecting(map[string]string{"kubernetes.io/hostname": "host-07-sandboxd", podcontract.LabelRuntime: "sandboxd"}),
		},
		"the same node selector": {given: selecting(map[string]string{podcontract.LabelRuntime: "sandboxd"}), want: func(*corev1.Pod) {}},
		"annotations": {
			given: annotated(map[string]string{
				podcontract.AnnotationTemplate: "py", podcontract.AnnotationSize: "large", podcontract.AnnotationNet: "egress", "team": "red",
			}),
			want: annotated(map[string]string{
				podcontract.AnnotationTemplate: "py", podcontract.AnnotationSize: "large", podcontract.AnnotationNet: "egress", "team": "red",
				podcontract.AnnotationRuntime: "sandboxd",
			}),
		},
		"an empty size, which is sandboxd's default": {
			given: annotated(map[string]string{podcontract.AnnotationSize: ""}),
			want: annotated(map[string]string{
				podcontract.AnnotationSize: "", podcontract.AnnotationTemplate: sandboxImage, podcontract.AnnotationRuntime: "sandboxd",
			}),
		},
		"the runtime's annotation": {given: annotated(map[string]string{podcontract.AnnotationRuntime: "sandboxd"}), want: func(*corev1.Pod) {}},
		"another toleration":       {given: tolerating(noExecute), want: tolerating(noExecute, added)},
		"a toleration of another effect": {
			given: tolerating(corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}),
			want:  tolerating(corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}, added),
		},
		"a toleration of another value": {
			given: tolerating(corev1.Toleration{Key: key, Value: "vk-cocoon"}), want: tolerating(corev1.Toleration{Key: key, Value: "vk-cocoon"}, added),
		},
		"an equal toleration":          {given: tolerating(added), want: tolerating(added)},
		"a toleration of the value":    {given: tolerating(corev1.Toleration{Key: key, Value: "sandboxd"}), want: tolerating(corev1.Toleration{Key: key, Value: "sandboxd"})},
		"a toleration of every effect": {given: tolerating(corev1.Toleration{Key: key, Operator: "Exists"}), want: tolerating(corev1.Toleration{Key: key, Operator: "Exists"})},
		"a toleration of everything":   {given: tolerating(corev1.Toleration{Operator: "Exists"}), want: tolerating(corev1.Toleration{Operator: "Exists"})},
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod, want := sandboxPod(test.given), routed(sandboxPod())
			test.want(want)
			r.admit(t, createPod(pod))
			check(t, "Pod", want, pod)
		})
	}
}

// The size is that of the sandbox-operator's API: of each resource the first container's
// request, else its limit.
func TestRoutingSize(t *testing.T) {
	tests := map[string]struct{ cpu, memory, cpuLimit, memoryLimit, want string }{
		"nothing":                       {want: "small"},
		"1 CPU":                         {cpu: "1", want: "small"},
		"1001m":                         {cpu: "1001m", want: "medium"},
		"4 CPU":                         {cpu: "4", want: "medium"},
		"4000m":                         {cpu: "4000m", want: "medium"},
		"4001m":                         {cpu: "4001m", want: "large"},
		"2Gi":                           {memory: "2Gi", want: "small"},
		"2Gi and a byte":                {memory: "2147483649", want: "medium"},
		"8Gi":                           {memory: "8Gi", want: "medium"},
		"8Gi and a byte":                {memory: "8589934593", want: "large"},
		"the larger counts":             {cpu: "100m", memory: "16Gi", want: "large"},
		"limits alone":                  {cpuLimit: "4", memoryLimit: "9Gi", want: "large"},
		"CPU limit alone":               {cpuLimit: "2", want: "medium"},
		"requests win over limits":      {cpu: "500m", memory: "1Gi", cpuLimit: "8", memoryLimit: "16Gi", want: "small"},
		"request of one, limit of both": {cpu: "500m", cpuLimit: "8", memoryLimit: "4Gi", want: "medium"},
		"a request of zero":             {cpu: "0", cpuLimit: "8", want: "small"},
	}
	list := func(cpu, memory string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for name, quantity := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
			if quantity != "" {
				list[name] = resource.MustParse(quantity)
			}
		}
		return list
	}
	r := newRouting(t, install{})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := sandboxPod(func(pod *corev1.Pod) {
				second := corev1.Container{Name: "other", Image: "other", Resources: corev1.ResourceRequirements{Requests: list("64", "64Gi")}}
				pod.Spec.Containers = append(pod.Spec.Containers, second)
				pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{
					Requests: list(test.cpu, test.memory), Limits: list(test.cpuLimit, test.memoryLimit),
				}
			})
			r.admit(t, createPod(pod))
			check(t, "size", test.want, pod.Annotations[podcontract.AnnotationSize])
			check(t, "template", sandboxImage, pod.Annotations[podcontract.AnnotationTemplate])
		})
	}
}

// Routed Pods select the label that the virtual nodes have.
func TestRoutingFollowsNodeLabel(t *testing.T) {
	r := newRouting(t, install{values: `node: {labels: {sandbox.cocoonstack.io/runtime: sandboxd-b, pool: blue}}`})
	pod, other := sandboxPod(), sandboxPod(selecting(map[string]string{podcontract.LabelRuntime: "sandboxd"}))
	r.admit(t, createPod(pod))
	check(t, "node selector", map[string]string{podcontract.LabelRuntime: "sandboxd-b"}, pod.Spec.NodeSelector)
	r.admit(t, createPod(other))
	check(t, "tolerations of a Pod for other nodes", []corev1.Toleration(nil), other.Spec.Tolerations)
}

func TestRoutingIsOffByDefault(t *testing.T) {
	for _, object := range render(t, install{}) {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; kind == "MutatingAdmissionPolicy" || kind == "MutatingAdmissionPolicyBinding" {
			t.Errorf("a %s is rendered", kind)
		}
	}
}
