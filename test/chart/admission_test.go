// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

const account = "system:serviceaccount:sandboxes:vk-sandbox"

// request is one write as admission gets it.
type request struct {
	user      string
	host      string // the token's node-name claim; empty means none
	operation admission.Operation
	resource  string // with subresource
	object    runtime.Object
	previous  runtime.Object // before an update; nil means the same
}

func (r request) userInfo() user.Info {
	info := &user.DefaultInfo{Name: r.user, Extra: map[string][]string{}}
	if r.host != "" {
		info.Extra["authentication.kubernetes.io/node-name"] = []string{r.host}
	}
	return info
}

func node(name string) runtime.Object {
	return &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func lease(name string) runtime.Object {
	return &coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-node-lease"},
	}
}

func pod(nodeName string) runtime.Object {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "notebook-a", Namespace: "team-red"},
		Spec:       corev1.PodSpec{NodeName: nodeName},
	}
}

func inventory(name string) runtime.Object {
	return published("sandbox.cocoonstack.io/v1beta1", "NodeInventory", name)
}

func claims(name string) runtime.Object {
	return published("sandbox.cocoonstack.io/v1alpha1", "NodeClaimStatus", name)
}

func published(apiVersion, kind, name string) runtime.Object {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name},
	}}
}

// The policies run in the API server's own admission plugin, with its matching and CEL. A
// daemon can write only objects of its own host.
func TestAdmissionPolicy(t *testing.T) {
	const own, other, real = "host-07-sandboxd", "host-08-sandboxd", "host-07"
	const notNamed, notBound, noHost = "may write only what is named host-07-sandboxd", "may write only Pods bound to host-07-sandboxd", "token names none"
	tests := map[string]struct {
		request
		want string // part of the refusal; empty means allowed
	}{
		"create own node":            {request: request{operation: admission.Create, resource: "nodes", object: node(own)}},
		"patch own node":             {request: request{operation: admission.Update, resource: "nodes", object: node(own)}},
		"patch own node's status":    {request: request{operation: admission.Update, resource: "nodes/status", object: node(own)}},
		"create own lease":           {request: request{operation: admission.Create, resource: "leases", object: lease(own)}},
		"renew own lease":            {request: request{operation: admission.Update, resource: "leases", object: lease(own)}},
		"status of own Pod":          {request: request{operation: admission.Update, resource: "pods/status", object: pod(own)}},
		"delete own Pod":             {request: request{operation: admission.Delete, resource: "pods", object: pod(own)}},
		"create own inventory":       {request: request{operation: admission.Create, resource: "nodeinventories", object: inventory(own)}},
		"apply own inventory":        {request: request{operation: admission.Update, resource: "nodeinventories", object: inventory(own)}},
		"create own claim status":    {request: request{operation: admission.Create, resource: "nodeclaimstatuses", object: claims(own)}},
		"apply own claim status":     {request: request{operation: admission.Update, resource: "nodeclaimstatuses/status", object: claims(own)}},
		"create other node":          {request: request{operation: admission.Create, resource: "nodes", object: node(other)}, want: notNamed},
		"taint the host's own node":  {request: request{operation: admission.Update, resource: "nodes", object: node(real)}, want: notNamed},
		"taint another node":         {request: request{operation: admission.Update, resource: "nodes", object: node("worker-02")}, want: notNamed},
		"status of another node":     {request: request{operation: admission.Update, resource: "nodes/status", object: node(other)}, want: notNamed},
		"create the host's lease":    {request: request{operation: admission.Create, resource: "leases", object: lease(real)}, want: notNamed},
		"renew another node's lease": {request: request{operation: admission.Update, resource: "leases", object: lease(other)}, want: notNamed},
		"status of another's Pod":    {request: request{operation: admission.Update, resource: "pods/status", object: pod(other)}, want: notBound},
		"status of a host's Pod":     {request: request{operation: admission.Update, resource: "pods/status", object: pod(real)}, want: notBound},
		"status of an unbound Pod":   {request: request{operation: admission.Update, resource: "pods/status", object: pod("")}, want: notBound},
		"delete another's Pod":       {request: request{operation: admission.Delete, resource: "pods", object: pod(other)}, want: notBound},
		"delete an unbound Pod":      {request: request{operation: admission.Delete, resource: "pods", object: pod("")}, want: notBound},
		"another's inventory":        {request: request{operation: admission.Update, resource: "nodeinventories", object: inventory(other)}, want: notNamed},
		"another's claim status":     {request: request{operation: admission.Update, resource: "nodeclaimstatuses", object: claims(other)}, want: notNamed},
		"status of another's":        {request: request{operation: admission.Update, resource: "nodeclaimstatuses/status", object: claims(other)}, want: notNamed},
		"make another's":             {request: request{operation: admission.Create, resource: "nodeclaimstatuses", object: claims(other)}, want: notNamed},

		"token without a host, node":  {request: request{host: "-", operation: admission.Update, resource: "nodes/status", object: node(own)}, want: noHost},
		"token without a host, name":  {request: request{host: "-", operation: admission.Update, resource: "nodes/status", object: node("-sandboxd")}, want: noHost},
		"token without a host, Pod":   {request: request{host: "-", operation: admission.Delete, resource: "pods", object: pod(own)}, want: noHost},
		"another user is not touched": {request: request{user: "admin", host: "-", operation: admission.Update, resource: "nodes", object: node("worker-02")}},
		"another user deletes a Pod":  {request: request{user: "admin", host: "-", operation: admission.Delete, resource: "pods", object: pod(other)}},
	}
	validate := newAdmission(t, render(t, install{values: `inventory: {publish: true}`}))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := test.request
			if r.user == "" {
				r.user = account
			}
			switch r.host {
			case "":
				r.host = real
			case "-":
				r.host = ""
			}
			checkVerdict(t, validate(r), test.want)
		})
	}
}

// The node name is a value; the policy must follow it.
func TestAdmissionPolicyUsesNodeNameValue(t *testing.T) {
	validate := newAdmission(t, render(t, install{values: `node: {name: "vm.$(HOST_NODE_NAME).sandbox"}`}))
	update := request{user: account, host: "host-07", operation: admission.Update, resource: "nodes/status"}
	update.object = node("vm.host-07.sandbox")
	checkVerdict(t, validate(update), "")
	update.object = node("host-07-sandboxd")
	checkVerdict(t, validate(update), "may write only what is named vm.host-07.sandbox")
}

func TestAdmissionPolicyUsesAccountName(t *testing.T) {
	validate := newAdmission(t, render(t, install{namespace: "vms", values: `serviceAccount: {name: agent}`}))
	crossNode := request{user: "system:serviceaccount:vms:agent", host: "host-07", operation: admission.Update, resource: "nodes", object: node("host-08")}
	checkVerdict(t, validate(crossNode), "may write only")
}

func TestAdmissionPolicyCanBeDisabled(t *testing.T) {
	for _, object := range render(t, install{values: `admissionPolicy: {enabled: false}`}) {
		if group := object.GetObjectKind().GroupVersionKind().Group; group == "admissionregistration.k8s.io" {
			t.Errorf("%T is rendered", object)
		}
	}
}

func checkVerdict(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("allowed, want a refusal that contains %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with %q, want %q", err, want)
	}
}
