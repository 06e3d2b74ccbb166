// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	owners    dynamic.Interface
	resources resources
	services  apiServices
	pods      corev1client.PodsGetter
	cluster   Cluster
}

// NewAuthorizer returns an Authorizer that reads owners with the dynamic
// client, at the resource that mapper knows, and Pods with the typed one. A
// mapper that can be reset is, at most every five minutes, when an owner
// answers with a 404 that does not name it: its version may have been retired.
// Every verdict that releases is confirmed by cluster.
func NewAuthorizer(owners dynamic.Interface, mapper meta.RESTMapper, pods corev1client.PodsGetter, cluster Cluster) *Authorizer {
	return &Authorizer{
		owners: owners, resources: resources{mapper: mapper}, services: apiServices{client: owners}, pods: pods, cluster: cluster,
	}
}

// Owner judges a controller owner as docs/architecture.md lists. It releases
// when the owner is confirmed gone, replaced, being deleted, or a Sandbox that
// has expired, and only when the API server's own storage said so: an aggregated
// API server can make objects up, and says nothing about a stored one.
func (a *Authorizer) Owner(ctx context.Context, namespace string, o claims.Owner) Decision {
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if gvk.Version == "" || gvk.Kind == "" {
		// Without its group the kind would be looked for in the core group.
		return unknown(Unverifiable, "owner could not be resolved", errMalformed)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	obj, confirm, err := a.read(ctx, gvk, namespace, o.Name)
	if apierrors.IsNotFound(err) && !confirmedAbsent(err, o.Name) && a.resources.rediscover() {
		obj, confirm, err = a.read(ctx, gvk, namespace, o.Name)
	}
	d := judge("owner", o.Name, o.UID, obj, err)
	if !d.Release && d.Err == nil && expired(obj) {
		d = release(Expired, "owner Sandbox has expired")
	}
	if d.Release {
		d = confirm(ctx, d)
	}
	return a.confirm(ctx, d)
}

var errMalformed = errors.New("the owner reference has a malformed apiVersion or no kind")

// Pod judges a Pod that has no controller owner and is its own teardown
// intent. The Pod is read rather than believed gone, because virtual-kubelet
// also asks for the deletion of Pods that an incomplete list merely lacked.
func (a *Authorizer) Pod(ctx context.Context, namespace, name string, uid types.UID) Decision {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pod, err := a.pods.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	return a.confirm(ctx, judge("bare Pod", name, uid, pod, err))
}

// read gets an owner, which is in the Pod's namespace unless its kind is
// cluster-scoped. confirm is to be asked before the answer releases.
func (a *Authorizer) read(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (obj *unstructured.Unstructured, confirm confirmation, err error) {
	gvr, namespaced := a.resources.find(ctx, gvk)
	confirm = a.services.before(ctx, gvr.GroupVersion())
	if namespaced {
		obj, err = a.owners.Resource(gvr).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	} else {
		obj, err = a.owners.Resource(gvr).Get(ctx, name, metav1.GetOptions{})
	}
	return obj, confirm, err
}
