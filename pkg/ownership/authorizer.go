// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// readTimeout bounds one verdict, so that a slow API server holds a Pod's key
// for no longer; the caller tries again.
const readTimeout = 15 * time.Second

// Authorizer reads owners and Pods and judges them. It is safe for concurrent
// use.
type Authorizer struct {
	owners dynamic.Interface
	mapper meta.RESTMapper
	pods   corev1client.PodsGetter
}

// NewAuthorizer returns an Authorizer that reads owners with the dynamic
// client, at the resource that mapper knows, and Pods with the typed one.
func NewAuthorizer(owners dynamic.Interface, mapper meta.RESTMapper, pods corev1client.PodsGetter) *Authorizer {
	return &Authorizer{owners: owners, mapper: mapper, pods: pods}
}

// Owner judges a controller owner by the architecture's table. It releases
// when the owner is confirmed gone, replaced, being deleted, or a Sandbox that
// has expired.
func (a *Authorizer) Owner(ctx context.Context, namespace string, o claims.Owner) Decision {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	obj, err := a.read(o, namespace).Get(ctx, o.Name, metav1.GetOptions{})
	d := judge("owner", o.Name, o.UID, obj, err)
	if !d.Release && d.Err == nil && expired(obj) {
		return release("owner Sandbox has expired")
	}
	return d
}

// Pod judges a Pod that has no controller owner and is its own teardown
// intent. The Pod is read rather than believed gone, because virtual-kubelet
// also asks for the deletion of Pods that an incomplete list merely lacked.
func (a *Authorizer) Pod(ctx context.Context, namespace, name string, uid types.UID) Decision {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pod, err := a.pods.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	return judge("bare Pod", name, uid, pod, err)
}

// read returns the reader for the owner's kind.
func (a *Authorizer) read(o claims.Owner, namespace string) dynamic.ResourceInterface {
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	gvr, namespaced := a.resource(gvk)
	if namespaced {
		return a.owners.Resource(gvr).Namespace(namespace)
	}
	return a.owners.Resource(gvr)
}

// resource asks discovery for the kind: at the version that the reference
// names, else at one that is still served. Without an answer the English plural
// rules stand in. A wrong guess is safe: its 404 names no object.
func (a *Authorizer) resource(gvk schema.GroupVersionKind) (gvr schema.GroupVersionResource, namespaced bool) {
	mapping, err := a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		mapping, err = a.mapper.RESTMapping(gvk.GroupKind())
	}
	if err != nil {
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		return plural, true
	}
	return mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace
}
