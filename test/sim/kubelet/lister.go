// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// podLister reads the cache, and adds the terminal phases that the daemon wrote and
// the watch has not delivered yet. The daemon's own lister does the same.
type podLister struct {
	corev1listers.PodLister

	wrote *terminalWrites
}

// Pods implements the lister of a namespace.
func (l podLister) Pods(namespace string) corev1listers.PodNamespaceLister {
	return namespaceLister{l.PodLister.Pods(namespace), l.wrote}
}

type namespaceLister struct {
	corev1listers.PodNamespaceLister

	wrote *terminalWrites
}

// Get implements the lister of a namespace.
func (l namespaceLister) Get(name string) (*corev1.Pod, error) {
	pod, err := l.PodNamespaceLister.Get(name)
	if err != nil || apiserver.Terminal(pod) || !l.wrote.has(pod.UID) {
		return pod, err
	}
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	return pod, nil
}

// terminalWrites records the Pods whose terminal phase the daemon wrote. The zero
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
	if !apiserver.Terminal(pod) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pods == nil {
		w.pods = map[types.UID]bool{}
	}
	w.pods[pod.UID] = true
}

// forget clears the record. A list is newer than every write.
func (w *terminalWrites) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.pods)
}
