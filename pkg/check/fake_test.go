// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/check"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

// How long the fake nodes take, by virtual time.
const (
	claimTime   = 3 * time.Second
	publishTime = 10 * time.Second
	releaseTime = 2 * time.Second
)

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// cluster is an API server with nodes behind it that serve claims, unless a test
// says otherwise.
type cluster struct {
	*fake.Clientset
	t   *testing.T
	out bytes.Buffer

	// running changes what the Pod shows when it has its claim.
	running func(*corev1.Pod)
	// The rest is what the nodes leave undone.
	keepsPods, keepsClaims, hidesClaims bool

	mu      sync.Mutex
	created []*corev1.Pod
	rows    map[string][]v1alpha1.NodeClaim // by node
	left    int64                           // out of each status
	refused error                           // by the API server for a status
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{t: t, rows: map[string][]v1alpha1.NodeClaim{}}
	c.Clientset = fake.NewClientset(
		&appsv1.DaemonSet{
			ObjectMeta: metav1.ObjectMeta{Namespace: "sandboxes", Name: "vk-sandbox"},
			Status:     appsv1.DaemonSetStatus{DesiredNumberScheduled: 2, NumberReady: 2},
		},
		node("host-1-sandboxd"), node("host-2-sandboxd"),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "host-1"}},
	)
	c.PrependReactor("create", "pods", c.create)
	c.PrependReactor("delete", "pods", c.delete)
	return c
}

func node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"type": "virtual-kubelet"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// create binds the Pod, and has its node claim for it.
func (c *cluster) create(action clienttesting.Action) (bool, runtime.Object, error) {
	pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod).DeepCopy()
	c.mu.Lock()
	c.created = append(c.created, pod.DeepCopy())
	c.mu.Unlock()
	pod.Status.Phase = corev1.PodPending
	if err := c.Tracker().Create(podResource, pod, pod.Namespace); err != nil {
		return true, nil, err
	}
	go func() {
		time.Sleep(claimTime)
		c.claim(pod.DeepCopy())
	}()
	return true, pod, nil
}

func (c *cluster) claim(pod *corev1.Pod) {
	target := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
	pod.Spec.NodeName = target
	pod.Annotations[podcontract.AnnotationClaimID] = "claim-of-" + pod.Name
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "192.0.2.7"}
	if c.running != nil {
		c.running(pod)
	}
	if _, err := c.Tracker().Get(podResource, pod.Namespace, pod.Name); err != nil {
		return // it was deleted meanwhile
	}
	if err := c.Tracker().Update(podResource, pod, pod.Namespace); err != nil {
		c.t.Error(err)
	}
	if c.hidesClaims || pod.Annotations[podcontract.AnnotationClaimID] == "" {
		return
	}
	time.Sleep(publishTime)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[target] = append(c.rows[target], v1alpha1.NodeClaim{ID: "claim-of-" + pod.Name, State: v1alpha1.ClaimBound})
}

// delete marks the Pod, and has its node release the claim.
func (c *cluster) delete(action clienttesting.Action) (bool, runtime.Object, error) {
	d := action.(clienttesting.DeleteAction)
	object, err := c.Tracker().Get(podResource, d.GetNamespace(), d.GetName())
	if err != nil {
		return true, nil, err
	}
	pod := object.(*corev1.Pod).DeepCopy()
	if c.keepsPods || pod.DeletionTimestamp != nil {
		return true, nil, nil
	}
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	if err := c.Tracker().Update(podResource, pod, pod.Namespace); err != nil {
		return true, nil, err
	}
	go func() {
		time.Sleep(releaseTime)
		if err := c.Tracker().Delete(podResource, pod.Namespace, pod.Name); err != nil {
			c.t.Error(err)
		}
		time.Sleep(publishTime)
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.keepsClaims {
			delete(c.rows, pod.Spec.NodeName)
		}
	}()
	return true, nil, nil
}

// Get implements check.ClaimStatuses.
func (c *cluster) Get(_ context.Context, name string, _ metav1.GetOptions) (*v1alpha1.NodeClaimStatus, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := &v1alpha1.NodeClaimStatus{ObjectMeta: metav1.ObjectMeta{Name: name}}
	status.Status.Claims, status.Status.TruncatedCount = append(status.Status.Claims, c.rows[name]...), &c.left
	return status, c.refused
}

func (c *cluster) config() check.Config {
	return check.Config{
		Namespace: "sandboxes", Nodes: labels.SelectorFromSet(labels.Set{"type": "virtual-kubelet"}), DaemonSet: "vk-sandbox",
		Template: "rt:24.04", Timeout: 2 * time.Minute, Client: c, Statuses: c, Out: &c.out,
		AxesHint: "hint for axes", StatusHint: "hint for statuses",
	}
}

// update changes a node.
func (c *cluster) update(node *corev1.Node, change func(*corev1.Node)) {
	c.t.Helper()
	change(node)
	if err := c.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), node, ""); err != nil {
		c.t.Fatal(err)
	}
}

// daemons says how the DaemonSet stands.
func (c *cluster) daemons(desired, ready int32) {
	c.t.Helper()
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sandboxes", Name: "vk-sandbox"},
		Status:     appsv1.DaemonSetStatus{DesiredNumberScheduled: desired, NumberReady: ready},
	}
	if err := c.Tracker().Update(appsv1.SchemeGroupVersion.WithResource("daemonsets"), set, set.Namespace); err != nil {
		c.t.Fatal(err)
	}
}

// pods are those that are left.
func (c *cluster) pods() []corev1.Pod {
	c.t.Helper()
	list, err := c.CoreV1().Pods("").List(c.t.Context(), metav1.ListOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return list.Items
}

// fail answers requests of the kind with the error, the first n or for ever.
func (c *cluster) fail(verb, resource string, n int, err error) {
	c.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		if n == 0 {
			return false, nil, nil
		}
		n--
		return true, nil, err
	})
}

func forbidden(resource string) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no right"))
}
