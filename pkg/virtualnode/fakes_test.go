// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"sync"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	corev1 "k8s.io/api/core/v1"
)

// fakeProvider keeps Pods in memory. create decides about each create, with
// the number of attempts so far.
type fakeProvider struct {
	create func(attempt int, pod *corev1.Pod) error

	mu       sync.Mutex
	attempts int
	pods     map[string]*corev1.Pod
	deleted  []string
	notify   func(*corev1.Pod)
}

func newFakeProvider(create func(int, *corev1.Pod) error) *fakeProvider {
	return &fakeProvider{create: create, pods: map[string]*corev1.Pod{}}
}

func (f *fakeProvider) CreatePod(_ context.Context, pod *corev1.Pod) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts++
	if f.create != nil {
		if err := f.create(f.attempts, pod); err != nil {
			return err
		}
	}
	f.pods[pod.Namespace+"/"+pod.Name] = pod.DeepCopy()
	return nil
}

func (f *fakeProvider) UpdatePod(context.Context, *corev1.Pod) error { return nil }

func (f *fakeProvider) DeletePod(_ context.Context, pod *corev1.Pod) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deleted = append(f.deleted, pod.Namespace+"/"+pod.Name)
	delete(f.pods, pod.Namespace+"/"+pod.Name)
	return nil
}

func (f *fakeProvider) GetPod(_ context.Context, namespace, name string) (*corev1.Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if pod, ok := f.pods[namespace+"/"+name]; ok {
		return pod.DeepCopy(), nil
	}
	return nil, errdefs.NotFound("no such pod")
}

func (f *fakeProvider) GetPodStatus(ctx context.Context, namespace, name string) (*corev1.PodStatus, error) {
	pod, err := f.GetPod(ctx, namespace, name)
	if err != nil {
		return nil, err
	}
	return &pod.Status, nil
}

func (f *fakeProvider) GetPods(context.Context) ([]*corev1.Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pods []*corev1.Pod
	for _, pod := range f.pods {
		pods = append(pods, pod.DeepCopy())
	}
	return pods, nil
}

func (f *fakeProvider) NotifyPods(_ context.Context, notify func(*corev1.Pod)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notify = notify
}

func (f *fakeProvider) publish(pod *corev1.Pod) {
	f.mu.Lock()
	notify := f.notify
	f.mu.Unlock()
	notify(pod)
}

func (f *fakeProvider) created() (attempts int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.attempts
}
