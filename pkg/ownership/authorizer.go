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

// readTimeout bounds one verdict, so that a slow API server cannot hold a Pod's key for
// longer. The caller tries again.
const readTimeout = 15 * time.Second

// Authorizer reads owners and Pods, and decides whether their sandboxes may be released.
// It is safe for concurrent use.
type Authorizer struct {
	owners    dynamic.Interface
	resources resources
	services  apiServices
	pods      corev1client.PodsGetter
	cluster   Cluster
}

// NewAuthorizer returns an Authorizer that reads owners with the dynamic client, at the
// resource found by mapper, and Pods with the typed client. A resettable mapper is reset,
// at most every five minutes, if the 404 for an owner does not name it: the owner's API
// version may have been retired. cluster confirms every verdict that releases.
func NewAuthorizer(owners dynamic.Interface, mapper meta.RESTMapper, pods corev1client.PodsGetter, cluster Cluster) *Authorizer {
	return &Authorizer{
		owners: owners, resources: resources{mapper: mapper}, services: apiServices{client: owners}, pods: pods, cluster: cluster,
	}
}

// Owner decides about a controller owner, by the rules in docs/architecture.md. It
// releases if the owner is confirmed gone, replaced, being deleted, or a Sandbox that has
// expired, and only if the answer came from the API server's own storage: an answer of an
// aggregated API server proves nothing about a stored object.
func (a *Authorizer) Owner(ctx context.Context, namespace string, o claims.Owner) Decision {
	gvk := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
	if gvk.Version == "" || gvk.Kind == "" {
		// Without its group the kind would be resolved in the core group.
		return unknown(Unverifiable, "owner could not be resolved", errMalformed)
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	obj, confirm, err := a.read(ctx, gvk, namespace, o.Name)
	if apierrors.IsNotFound(err) && !confirmedAbsent(err, o.Name) && a.resources.rediscover() {
		obj, confirm, err = a.read(ctx, gvk, namespace, o.Name)
	}
	d := readVerdict("owner", o.Name, o.UID, obj, err)
	if !d.Release && d.Err == nil && expired(obj) {
		d = release(Expired, "owner Sandbox has expired")
	}
	if d.Release {
		d = confirm(ctx, d)
	}
	return a.confirm(ctx, d)
}

var errMalformed = errors.New("the owner reference has a malformed apiVersion or no kind")

// Pod decides about a bare Pod, which has no controller owner. The Pod is read, because
// virtual-kubelet also deletes Pods that are only missing from an incomplete list.
func (a *Authorizer) Pod(ctx context.Context, namespace, name string, uid types.UID) Decision {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pod, err := a.pods.Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	return a.confirm(ctx, readVerdict("bare Pod", name, uid, pod, err))
}

// read gets an owner, from the Pod's namespace unless its kind is cluster-scoped. Call
// confirm before the answer releases.
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
