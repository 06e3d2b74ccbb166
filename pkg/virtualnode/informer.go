// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// podResync makes the pod controller compare what it last published with the
// API server's copy. Above zero it heals a status that was dropped because it
// was notified before the Pod was known.
const podResync = time.Minute

// PodInformer watches the Pods bound to one node. It is built before the
// provider, which reads its lister, and started by [VirtualNode.Run].
type PodInformer struct {
	factory  informers.SharedInformerFactory
	informer corev1informers.PodInformer
}

// NewPodInformer returns the informer of the Pods bound to nodeName. Nothing
// is requested yet.
func NewPodInformer(client kubernetes.Interface, nodeName string) *PodInformer {
	factory := informers.NewSharedInformerFactoryWithOptions(client, podResync,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
		}),
		informers.WithTransform(stripPod),
	)
	p := &PodInformer{factory: factory, informer: factory.Core().V1().Pods()}
	p.informer.Informer() // made known to the factory, so that it is started
	return p
}

// Lister lists the node's Pods from the cache, for the pod controller: the fields
// of each Pod itself may be written to, but nothing that they refer to. Before the
// cache has synced, a Pod that is not listed may still exist.
func (p *PodInformer) Lister() corev1listers.PodLister { return copyingLister{p.informer.Lister()} }

// SharedLister reads the watched Pods themselves. Who uses it must not change them.
func (p *PodInformer) SharedLister() corev1listers.PodLister { return p.informer.Lister() }

// HasSynced reports whether the cache has seen all of the node's Pods.
func (p *PodInformer) HasSynced() bool { return p.informer.Informer().HasSynced() }

// Informer returns the shared informer, whose objects must not be changed.
// With Lister it makes PodInformer an informer as the pod controller wants it.
func (p *PodInformer) Informer() cache.SharedIndexInformer { return p.informer.Informer() }

var _ corev1informers.PodInformer = (*PodInformer)(nil)

// stripManagedFields drops what is as large as the rest, and what each status write
// changes, so that the library would take it for a change of the Pod.
func stripManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// stripPod also drops what neither the daemon nor the library reads of a Pod's spec:
// most of it. A host keeps thousands of Pods in memory, and each more than once.
func stripPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		spec := corev1.PodSpec{NodeName: pod.Spec.NodeName, RestartPolicy: pod.Spec.RestartPolicy}
		for _, c := range pod.Spec.Containers {
			spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
		}
		pod.Spec = spec
	}
	return stripManagedFields(object)
}
