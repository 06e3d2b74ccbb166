// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// hangingTemplate is a template whose claims take claimHangs and deliver nothing.
const (
	hangingTemplate = "hanging"
	claimHangs      = time.Minute
)

// fakeSandboxd delivers sandboxes that live until they are released. Its first claims
// find no capacity.
type fakeSandboxd struct {
	mu       sync.Mutex
	full     int // how many claims find no capacity
	claims   int
	alive    map[string]bool
	released int
}

func (s *fakeSandboxd) Claim(_ context.Context, r sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	if r.Template == hangingTemplate {
		time.Sleep(claimHangs)
		return sandboxd.Claim{}, &sandboxd.Error{Op: "claim", Class: sandboxd.Unreachable}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims++
	if s.claims <= s.full {
		return sandboxd.Claim{}, &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429}
	}
	id := fmt.Sprintf("sb_%d", s.claims)
	s.alive[id] = true
	return sandboxd.Claim{ID: id, Token: sandboxd.NewToken("token-" + id), Deadline: time.Now().Add(24 * time.Hour), OwnerAddr: "10.0.0.5:7777"}, nil
}

func (s *fakeSandboxd) Release(_ context.Context, id string, _ sandboxd.Token) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released++
	delete(s.alive, id)
	return nil
}

func (s *fakeSandboxd) List(context.Context) (out []sandboxd.Sandbox, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.alive {
		out = append(out, sandboxd.Sandbox{ID: id})
	}
	return out, nil
}

func (s *fakeSandboxd) Get(_ context.Context, id string) (sandboxd.Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive[id] {
		return sandboxd.Sandbox{ID: id}, nil
	}
	return sandboxd.Sandbox{}, &sandboxd.Error{Op: "get", Class: sandboxd.NotFound, Status: 404}
}

func (s *fakeSandboxd) Info(context.Context) (sandboxd.Info, error) { return sandboxd.Info{}, nil }

// counts is how many claims were asked for, of those that do not hang, and how many
// sandboxes were released.
func (s *fakeSandboxd) counts() (claims, released int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.claims, s.released
}

// barePods are owners of nothing but bare Pods.
type barePods struct{ client *fake.Clientset }

func (barePods) Owner(context.Context, string, claims.Owner) ownership.Decision {
	return ownership.Decision{Cause: ownership.Alive, Reason: "the owner is alive"}
}

func (o barePods) Pod(ctx context.Context, namespace, name string, uid types.UID) ownership.Decision {
	pod, err := o.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
	if err == nil && pod.UID == uid && pod.DeletionTimestamp == nil {
		return ownership.Decision{Cause: ownership.Alive, Reason: "the Pod is alive"}
	}
	return ownership.Decision{Release: true, Cause: ownership.Deleting, Reason: "the Pod is being deleted"}
}

type noEvents struct{}

func (noEvents) Event(runtime.Object, string, string, string) {}

// fullNode runs a virtual node with the real provider, wired as the program wires it.
func fullNode(t *testing.T, client *fake.Clientset, node *fakeSandboxd) *claims.Table {
	t.Helper()
	table, err := claims.Open(claimfile.New(faultfs.New(), "/state/claims.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	node.alive = map[string]bool{}
	v := startControl(t, client, nil, func(c *Config) {
		p, err := provider.New(provider.Config{
			Table: table, Sandboxd: node, Owners: barePods{client}, Recorder: noEvents{}, PodClient: client.CoreV1(),
			Pods: c.Pods.SharedLister(), PodsSynced: c.Pods.HasSynced, Shows: c.Pods.Shows, PodsListed: c.Pods.Lists,
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Provider, c.Observer = p, p
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { p.Run(ctx); close(done) }()
		t.Cleanup(func() { cancel(); <-done })
	})
	<-v.Registered()
	return table
}

func sandboxPod(name string, uid types.UID, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: uid, ResourceVersion: "1",
			Annotations: map[string]string{podcontract.AnnotationTemplate: "rt"},
		},
		Spec:   corev1.PodSpec{NodeName: "host-1-sandboxd", Containers: []corev1.Container{{Name: "agent", Image: "x"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}
	for _, f := range change {
		f(pod)
	}
	return pod
}

func never(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyNever }

func hanging(p *corev1.Pod) { p.Annotations[podcontract.AnnotationTemplate] = hangingTemplate }

// beginDeletion marks a Pod as the API server does that waits for its node.
func beginDeletion(t *testing.T, client *fake.Clientset, name string) {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = new(metav1.Now()), new(int64(30))
	if _, err := client.CoreV1().Pods("default").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func podPhase(t *testing.T, client *fake.Clientset, name string) corev1.PodPhase {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod.Status.Phase
}

// delayPods makes the Pod watch late.
func delayPods(client *fake.Clientset, delay time.Duration) {
	client.PrependWatchReactor("pods", func(a clienttesting.Action) (bool, watch.Interface, error) {
		inner, err := client.Tracker().Watch(a.GetResource(), a.GetNamespace(), a.(clienttesting.WatchActionImpl).ListOptions)
		if err != nil {
			return true, nil, err
		}
		late := watch.NewRaceFreeFake()
		go func() {
			for e := range inner.ResultChan() {
				time.Sleep(delay)
				late.Action(e.Type, e.Object)
			}
		}()
		return true, delayedWatch{late, inner}, nil
	})
}

type delayedWatch struct {
	*watch.RaceFreeFakeWatcher
	inner watch.Interface
}

func (w delayedWatch) Stop() {
	w.inner.Stop()
	w.RaceFreeFakeWatcher.Stop()
}
