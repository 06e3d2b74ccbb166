// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
)

// Informer watches one Node. An idle watch costs no request, whereas periodic reads of
// the Node would be most of the daemon's traffic.
type Informer struct {
	name     string
	factory  informers.SharedInformerFactory
	informer corev1informers.NodeInformer
}

// NewInformer returns the informer of the Node called nodeName. Nothing is
// requested yet.
func NewInformer(client kubernetes.Interface, nodeName string) *Informer {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, nodeName).String()
		}),
		informers.WithTransform(withoutManagedFields),
	)
	n := &Informer{name: nodeName, factory: factory, informer: factory.Core().V1().Nodes()}
	n.informer.Informer() // registers it with the factory, which then starts it
	return n
}

// Start lists and watches the Node until ctx ends.
func (n *Informer) Start(ctx context.Context) { n.factory.StartWithContext(ctx) }

// Shutdown waits until the watch has stopped. Call it after the context of Start
// has ended.
func (n *Informer) Shutdown() { n.factory.Shutdown() }

// errNotWatching means that the state of the Node is not known yet.
var errNotWatching = errors.New("the watch on the Node has not begun; check that the API server is reachable and that the service account may list and watch nodes")

// Get returns a copy of the Node as the watch showed it last. A Node that does not exist
// is a NotFound error; before the API server's first answer it is another error.
func (n *Informer) Get() (*corev1.Node, error) {
	if !n.informer.Informer().HasSynced() {
		return nil, errNotWatching
	}
	node, err := n.informer.Lister().Get(n.name)
	if err != nil {
		return nil, err
	}
	return node.DeepCopy(), nil
}

// missing reports whether the Node is known not to exist.
func (n *Informer) missing() bool {
	_, err := n.Get()
	return apierrors.IsNotFound(err)
}

// givenUp reports whether the node lifecycle controller has marked the Node as
// unreachable: its Ready condition is Unknown.
func (n *Informer) givenUp() bool {
	node, err := n.Get()
	return err == nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
	})
}

// withoutManagedFields is a transform of the cache. Managed fields are as large as the
// rest of the Node.
func withoutManagedFields(object any) (any, error) {
	if node, ok := object.(*corev1.Node); ok {
		stripped := *node // the object belongs to the watch
		stripped.ManagedFields = nil
		return &stripped, nil
	}
	return object, nil
}
