// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
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
	// published also knows what was written and not seen yet.
	published *publishedPods
	lists     atomic.Uint64
}

// NewPodInformer returns the informer of the Pods bound to nodeName. Nothing
// is requested yet.
func NewPodInformer(client kubernetes.Interface, nodeName string) *PodInformer {
	p := &PodInformer{}
	p.factory = informers.NewSharedInformerFactoryWithOptions(client, podResync,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
			// A list is a plain one, or a watch that begins with all objects.
			if !o.AllowWatchBookmarks || o.SendInitialEvents != nil && *o.SendInitialEvents {
				p.lists.Add(1)
			}
		}),
		informers.WithTransform(strippedPod),
	)
	p.informer = p.factory.Core().V1().Pods()
	// Asking for it makes it known to the factory, so that it is started.
	p.published = newPublishedPods(p.informer.Informer().GetStore())
	return p
}

// Lister lists the node's Pods from the cache, for the pod controller: the fields
// of each Pod itself may be written to, but nothing that they refer to. Before the
// cache has synced, a Pod that is not listed may still exist.
func (p *PodInformer) Lister() corev1listers.PodLister { return copyingLister{p.informer.Lister()} }

// SharedLister reads the watched Pods themselves, and gets a single Pod in the newest
// form that is known. Who uses it must not change them.
func (p *PodInformer) SharedLister() corev1listers.PodLister {
	return newestLister{p.informer.Lister(), p.published}
}

// Lists is how often the Pods have been listed. While it stays the same, the watch has
// shown every deletion.
func (p *PodInformer) Lists() uint64 { return p.lists.Load() }

// Shows reports whether the API server has the status and the claim id of pod
// already, as far as is known: publishing them would send nothing.
func (p *PodInformer) Shows(pod *corev1.Pod) bool {
	base, err := p.published.get(pod.Namespace, pod.Name)
	if err != nil || base == nil || base.UID != pod.UID || base.Status.Phase != pod.Status.Phase {
		return false // without the cost of a whole comparison
	}
	patch, err := statusPatch(base, pod)
	return err == nil && patch == nil
}

// HasSynced reports whether the cache has seen all of the node's Pods.
func (p *PodInformer) HasSynced() bool { return p.informer.Informer().HasSynced() }

// Informer returns the shared informer, whose objects must not be changed.
// With Lister it makes PodInformer an informer as the pod controller wants it.
func (p *PodInformer) Informer() cache.SharedIndexInformer { return p.informer.Informer() }

var _ corev1informers.PodInformer = (*PodInformer)(nil)

// strippedPod is a transform of the cache: stripPod.
func strippedPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		stripped := *pod // the object belongs to the watch
		stripPod(&stripped)
		return &stripped, nil
	}
	return object, nil
}

// stripPod drops of a Pod what neither the daemon nor the library reads. A host
// keeps thousands of Pods in memory, and each more than once. Of the spec that is
// most. Managed fields are as large as the rest, and each status write moves their
// times, which the library would take for a change of the Pod.
func stripPod(pod *corev1.Pod) {
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName, RestartPolicy: pod.Spec.RestartPolicy}
	for _, c := range pod.Spec.Containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
	}
	pod.Spec, pod.ManagedFields = spec, nil
}
