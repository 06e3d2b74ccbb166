// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
)

// newestLister reads the cache, and knows of each terminal phase that the daemon
// wrote and the watch has yet to bring, as the daemon's own does.
type newestLister struct {
	corev1listers.PodLister

	wrote *terminalWrites
}

// Pods implements the lister of a namespace.
func (l newestLister) Pods(namespace string) corev1listers.PodNamespaceLister {
	return newestNamespaceLister{l.PodLister.Pods(namespace), l.wrote}
}

type newestNamespaceLister struct {
	corev1listers.PodNamespaceLister

	wrote *terminalWrites
}

// Get implements the lister of a namespace.
func (l newestNamespaceLister) Get(name string) (*corev1.Pod, error) {
	pod, err := l.PodNamespaceLister.Get(name)
	if err != nil || terminal(pod) || !l.wrote.has(pod.UID) {
		return pod, err
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	return pod, nil
}

// terminalWrites is the Pods that the daemon wrote a terminal phase of. The zero
// value is ready.
type terminalWrites struct {
	mu   sync.Mutex
	pods map[types.UID]bool
}

func (w *terminalWrites) has(uid types.UID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pods[uid]
}

func (w *terminalWrites) note(pod *corev1.Pod) {
	if !terminal(pod) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods == nil {
		w.pods = map[types.UID]bool{}
	}
	w.pods[pod.UID] = true
}

// forget is for a list, which is newer than every write.
func (w *terminalWrites) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.pods)
}
