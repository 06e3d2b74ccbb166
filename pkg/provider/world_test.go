// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	corev1listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

const (
	namespace = fakes.Namespace
)

// The waits of the other packages of the provider.
const (
	goneAfter     = 5 * time.Minute  // until a missing sandbox counts as gone
	rowMargin     = 10 * time.Minute // from the end of a lease until its row may be dropped
	releaseRetry  = 10 * time.Second // between two tries of a release
	recheckFirst  = 10 * time.Second // until an owner is first read again
	recheckMost   = 10 * time.Minute // between two readings of an owner, at most
	missingGather = 15 * time.Second // until a missing owner counts
	heldRecheck   = time.Minute      // between two readings of the owner of a held claim
)

// world is a provider with running loops, and everything it talks to. Its published
// statuses are in the Pod cache at once. Only the test calls it.
type world struct {
	t      *testing.T
	p      *Provider
	node   *fakes.Sandboxd
	owners *fakes.Owners
	events *fakes.Events
	fs     *faultfs.FS
	change []func(*Config)
	stop   func()

	mu       sync.Mutex
	pods     cache.Indexer
	lister   corev1listers.PodLister
	removals int // how many Pods were to be removed from the API
	statuses int // how many were published
}

// inWorld runs a test in a world under virtual time.
func inWorld(t *testing.T, test func(t *testing.T, w *world), change ...func(*Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, node: fakes.NewSandboxd(), owners: &fakes.Owners{}, events: &fakes.Events{}, fs: faultfs.New(), change: change}
		w.pods, w.lister = fakes.PodCache()
		w.start()
		defer func() { w.stop() }()
		test(t, w)
	})
}

// start opens the table and runs the provider.
func (w *world) start() {
	w.t.Helper()
	table := fakes.OpenTable(w.t, w.fs)
	client := &fake.Clientset{}
	client.AddReactor("delete", "pods", w.removeByAPI)
	c := Config{
		Table: table, Sandboxd: w.node, Owners: w.owners, Recorder: w.events, ReleaseByID: w.node.ReleaseByID,
		Pods: w.lister, PodsSynced: func() bool { return true }, Shows: func(*corev1.Pod) bool { return false },
		PodClient: client.CoreV1(),
	}
	for _, change := range w.change {
		change(&c)
	}
	var err error
	if w.p, err = New(c); err != nil {
		w.t.Fatal(err)
	}
	w.p.NotifyPods(w.t.Context(), w.publish)
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() { w.p.Run(ctx); close(done) }()
	w.stop = func() { cancel(); <-done }
}

func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

// publish stores a status like the API server.
func (w *world) publish(pod *corev1.Pod) {
	w.mu.Lock()
	w.statuses++
	w.mu.Unlock()
	w.edit(pod.Name, func(p *corev1.Pod) {
		if p.UID == pod.UID {
			others := slices.DeleteFunc(slices.Clone(p.Status.Conditions), func(c corev1.PodCondition) bool {
				return podstatus.SetByNode(c.Type) || c.Type == corev1.PodScheduled
			})
			p.Status, p.Annotations = pod.Status, maps.Clone(p.Annotations)
			p.Status.Conditions = slices.Concat(others, pod.Status.Conditions)
			p.Annotations[podcontract.AnnotationClaimID] = pod.Annotations[podcontract.AnnotationClaimID]
		}
	})
}

// removeByAPI removes a deleted Pod unless it has a finalizer.
func (w *world) removeByAPI(a clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	w.removals++
	w.mu.Unlock()
	if pod := w.pod(a.(clienttesting.DeleteAction).GetName()); pod != nil && len(pod.Finalizers) == 0 {
		w.leave(pod, true)
	}
	return true, nil, nil
}

// pod is the Pod in the API server; nil if there is none.
func (w *world) pod(name string) *corev1.Pod {
	if object, found, _ := w.pods.GetByKey(namespace + "/" + name); found {
		return object.(*corev1.Pod)
	}
	return nil
}

// add puts a Pod into the API.
func (w *world) add(pod *corev1.Pod) *corev1.Pod {
	w.t.Helper()
	if err := w.pods.Add(pod); err != nil {
		w.t.Fatal(err)
	}
	return pod
}

// edit changes a Pod in the API without an event.
func (w *world) edit(name string, change func(*corev1.Pod)) *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod := w.pod(name)
	if pod == nil {
		return nil
	}
	pod = pod.DeepCopy()
	change(pod)
	return w.add(pod)
}

// leave removes a Pod from the API; seen is true if its deletion was seen.
func (w *world) leave(pod *corev1.Pod, seen bool) {
	w.t.Helper()
	w.forget(pod)
	w.p.PodGone(pod, seen)
}

// forget removes a Pod from the API without an event.
func (w *world) forget(pod *corev1.Pod) {
	w.t.Helper()
	if err := w.pods.Delete(pod); err != nil {
		w.t.Fatal(err)
	}
	w.readsAs(pod, ownership.Gone)
}

// readsAs sets the answer to later reads of the Pod. For a bare Pod the test sets it.
func (w *world) readsAs(pod *corev1.Pod, cause ownership.Cause) {
	if metav1.GetControllerOf(pod) != nil {
		w.owners.Set(cause, pod.UID)
	}
}

// remove begins the deletion of a Pod; without a finalizer it ends at once.
func (w *world) remove(name string) {
	w.t.Helper()
	pod := w.edit(name, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) })
	w.readsAs(pod, ownership.Deleting)
	w.p.PodChanged(pod)
	synctest.Wait()
}

// run adds a Pod of an owner that lives, and serves it.
func (w *world) run(name string, uid, owner types.UID) claims.Claim {
	w.t.Helper()
	w.owners.Set(ownership.Alive, uid)
	if owner != "" {
		w.owners.Set(ownership.Alive, owner)
	}
	if err := w.p.CreatePod(w.t.Context(), w.add(fakes.NewPod(name, uid, owner))); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
	c, held := w.row(name)
	if !held || c.PodUID != uid || c.State != claims.Bound || w.phase(name) != corev1.PodRunning {
		w.t.Fatalf("%s is %s and its claim %s of Pod %q", name, w.phase(name), c.State, c.PodUID)
	}
	return c
}

// create hands a Pod over like the library, and returns the error.
func (w *world) create(pod *corev1.Pod) error {
	w.t.Helper()
	err := w.p.CreatePod(w.t.Context(), w.add(pod))
	synctest.Wait()
	return err
}

// row is the claim under a Pod's name.
func (w *world) row(name string) (claims.Claim, bool) { return w.p.table.Get(namespace + "/" + name) }

// stored is the claim of the Pod a that the next start would load after a crash.
func (w *world) stored() claims.Claim {
	w.t.Helper()
	fs := faultfs.New()
	fs.Put(fakes.TablePath, w.fs.Durable(fakes.TablePath))
	rows, err := claimfile.Read(fs, fakes.TablePath)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range rows {
		if c.Key == namespace+"/a" && c.State != claims.Releasing {
			return c
		}
	}
	return claims.Claim{}
}

// phase is the Pod's phase in the API; empty if it has none.
func (w *world) phase(name string) corev1.PodPhase {
	if pod := w.pod(name); pod != nil {
		return pod.Status.Phase
	}
	return ""
}

// ended reports whether the API shows the Pod as Failed, and why.
func (w *world) ended(name string) (reason string, ended bool) {
	pod := w.pod(name)
	if pod == nil || pod.Status.Phase != corev1.PodFailed {
		return "", false
	}
	return pod.Status.Reason, true
}
