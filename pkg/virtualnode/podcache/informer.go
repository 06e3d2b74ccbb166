// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcache

import (
	"context"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	corev1informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// ResyncPeriod is how often the pod controller compares its last published status with
// the API server's copy. This repairs a status that was dropped because it was reported
// before the Pod was known.
const ResyncPeriod = time.Minute

// Informer watches the Pods bound to one node. It is built before the provider,
// which reads its lister.
type Informer struct {
	factory  informers.SharedInformerFactory
	informer corev1informers.PodInformer
	// published additionally has writes that the watch has not shown yet.
	published *publishedPods
	lists     atomic.Uint64
}

// NewInformer returns the informer of the Pods bound to nodeName. Nothing
// is requested yet.
func NewInformer(client kubernetes.Interface, nodeName string) *Informer {
	p := &Informer{}
	p.factory = informers.NewSharedInformerFactoryWithOptions(client, ResyncPeriod,
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector("spec.nodeName", nodeName).String()
			// The first condition is a plain list, the second a watch that begins with
			// all objects.
			if !o.AllowWatchBookmarks || o.SendInitialEvents != nil && *o.SendInitialEvents {
				p.lists.Add(1)
			}
		}),
		informers.WithTransform(strippedPod),
	)
	p.informer = p.factory.Core().V1().Pods()
	// This call registers the informer with the factory, which then starts it.
	p.published = newPublishedPods(p.informer.Informer().GetStore())
	return p
}

// Start lists and watches the Pods until ctx ends.
func (p *Informer) Start(ctx context.Context) { p.factory.StartWithContext(ctx) }

// Shutdown waits until the watch has stopped. Call it after the context of Start
// has ended.
func (p *Informer) Shutdown() { p.factory.Shutdown() }

// Lister lists the node's Pods from the cache, for the pod controller. The fields of a
// returned Pod may be written, but nothing that they refer to. Before the cache has
// synced, a Pod that is not listed may still exist.
func (p *Informer) Lister() corev1listers.PodLister { return copyingLister{p.informer.Lister()} }

// SharedLister lists the watched Pods themselves, and gets a single Pod in its newest
// known version. Callers must not modify them.
func (p *Informer) SharedLister() corev1listers.PodLister {
	return newestLister{p.informer.Lister(), p.published}
}

// Lists is how often the Pods have been listed. While it does not change, the watch has
// shown every deletion.
func (p *Informer) Lists() uint64 { return p.lists.Load() }

// Shows reports whether the API server is known to have the status and the claim id of
// pod, so that publishing them would send nothing.
func (p *Informer) Shows(pod *corev1.Pod) bool {
	base, err := p.published.get(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	if err != nil || base == nil || base.UID != pod.UID || base.Status.Phase != pod.Status.Phase {
		return false // saves the full comparison
	}
	patch, err := statusPatch(base, pod, time.Now())
	return err == nil && patch == nil
}

// HasSynced reports whether the cache has seen all of the node's Pods.
func (p *Informer) HasSynced() bool { return p.informer.Informer().HasSynced() }

// Informer returns the shared informer, whose objects must not be modified. With Lister
// it makes this type the PodInformer that the pod controller takes.
func (p *Informer) Informer() cache.SharedIndexInformer { return p.informer.Informer() }

var _ corev1informers.PodInformer = (*Informer)(nil)

// strippedPod is the cache's transform around stripPod.
func strippedPod(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		stripped := *pod // the object belongs to the watch
		stripPod(&stripped)
		return &stripped, nil
	}
	return object, nil
}

// stripPod removes the fields of a Pod that neither the daemon nor the library reads,
// which is most of the spec. A host keeps thousands of Pods in memory, each more than
// once. Managed fields are as large as the rest, and each status write changes their
// times, which the library would take for a change of the Pod.
func stripPod(pod *corev1.Pod) {
	spec := corev1.PodSpec{
		NodeName:       pod.Spec.NodeName,
		RestartPolicy:  pod.Spec.RestartPolicy,
		ReadinessGates: pod.Spec.ReadinessGates,
		Volumes:        podcontract.PersistentVolumes(pod.Spec.Volumes),
	}
	for _, c := range pod.Spec.InitContainers {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy})
	}
	for _, c := range pod.Spec.Containers {
		spec.Containers = append(spec.Containers, corev1.Container{Name: c.Name, Image: c.Image})
	}
	for _, c := range pod.Spec.EphemeralContainers {
		spec.EphemeralContainers = append(spec.EphemeralContainers, corev1.EphemeralContainer{
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: c.Name, Image: c.Image},
		})
	}
	pod.Spec, pod.ManagedFields = spec, nil
}
