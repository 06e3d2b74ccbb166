// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// judge knows what users were shown, what the node did and what the file said,
// and goes by docs/pod-contract.md alone.
type judge struct {
	sandboxd *sandboxdsim.Server
	table    string

	mu        sync.Mutex
	vms       map[string]*vm          // every claimed VM, by id
	shownOn   map[types.UID]string    // the VM that a Pod was shown on
	holders   map[string][]holder     // who has had a Pod under a key, in order
	over      map[types.UID]time.Time // since when an authority allows a release
	lastEvent int64
	lastLife  int64 // the last event of the life before this one
	released  int
	found     []string
}

// vm is what is known of a claimed VM.
type vm struct {
	id, key string
	claimed history.Event
	// authority is whose it is; empty as long as neither a Pod nor a row said so.
	authority types.UID
	shown     bool // as Running, on a Pod
	recorded  bool // in the file
	answered  bool // the daemon was sent its token
	lost      bool // its answer went down with a kill
}

// holder is an authority that has had a Pod under a key.
type holder struct {
	authority types.UID
	since     time.Time
}

func newJudge(sandboxd *sandboxdsim.Server, table string) *judge {
	return &judge{
		sandboxd: sandboxd, table: table, vms: map[string]*vm{}, shownOn: map[types.UID]string{},
		holders: map[string][]holder{}, over: map[types.UID]time.Time{},
	}
}

func (j *judge) violate(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(format, args...)
}

// add is violate with the lock held. One cause can be seen many times.
func (j *judge) add(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(j.found) < 20 && !slices.Contains(j.found, text) {
		j.found = append(j.found, text)
	}
}

func (j *judge) violations() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.found)
}

// inspect looks for tokens in what the daemon sends to the API server.
func (j *judge) inspect(request string) {
	if leaks(request) {
		j.violate("a token was sent to the API server: %s", redact([]byte(request)))
	}
}

// output judges what a life has printed.
func (j *judge) output(text string) {
	for line := range strings.Lines(text) {
		if leaks(line) {
			j.violate("a token was logged: %s", redact([]byte(line)))
		}
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			j.violate("the daemon crashed by itself: %s", line)
		}
	}
}

func leaks(text string) bool {
	return strings.Contains(text, rootToken) || strings.Contains(text, host.TokenPrefix)
}

// observe sees every change in the API server before anybody else does.
func (j *judge) observe(resource string, before, after kubeapi.Object) {
	now := time.Now()
	switch resource {
	case kubeapi.Sandboxes:
		if after == nil || over(after) {
			j.end(before, after, now)
		}
	case kubeapi.Pods:
		if bare := metav1.GetControllerOf(either(before, after)) == nil; bare && (after == nil || after.GetDeletionTimestamp() != nil) {
			j.end(before, after, now)
		}
		if before == nil {
			j.mu.Lock()
			key := podKey(after)
			j.holders[key] = append(j.holders[key], holder{authorityOf(after), now})
			j.mu.Unlock()
		}
		if after != nil && before != nil && !sameStatus(before, after) {
			j.published(before, after)
		}
	}
}

// end notes since when an object allows the release of what it owned.
func (j *judge) end(before, after kubeapi.Object, now time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	uid := either(before, after).GetUID()
	if _, ended := j.over[uid]; !ended {
		j.over[uid] = now
	}
}

// published judges a status of a Pod.
func (j *judge) published(before, after kubeapi.Object) {
	id, key, phase := after.GetAnnotations()[podcontract.AnnotationClaimID], podKey(after), phaseOf(after)
	// The row is there before the VM is shown and until it is gone. So a VM
	// that lives now had its row a moment ago.
	rows, err := readTable(j.table)
	alive := j.alive(id)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.add("when %s was published: %v", key, err)
	}
	if phase == "Failed" && alive {
		j.add("%s was published Failed (%s) while its sandbox %s lives", key, reasonOf(after), id)
	}
	if phaseOf(before) == "Running" && phase == "Pending" {
		j.add("%s was Running and was published Pending (%s)", key, reasonOf(after))
	}
	if phase != "Running" {
		return
	}
	if _, ok := rows[id]; !ok && alive {
		j.add("%s was published Running on %s, which has no row", key, id)
	}
	if other := j.shownOn[after.GetUID()]; other != "" && other != id {
		j.add("pod %s of %s ran on %s and now runs on %s", after.GetUID(), key, other, id)
	}
	j.shownOn[after.GetUID()] = id
	j.learn()
	v := j.vms[id]
	if v == nil {
		j.add("%s was published Running on %q, which was never claimed", key, id)
		return
	}
	v.shown = true
	if v.key != key {
		j.add("sandbox %s of %s was published on %s", id, v.key, key)
	}
	j.belongs(v, authorityOf(after))
}

// belongs holds what a Pod or a row says of a VM's authority against what is
// known. The caller holds mu.
func (j *judge) belongs(v *vm, authority types.UID) {
	if v.authority == "" {
		v.authority = authority
	}
	if v.authority != authority {
		j.add("sandbox %s of %s (%s) was given to %s", v.id, v.key, v.authority, authority)
	}
}

// alive reports whether a sandbox is claimed and lives at this moment.
func (j *judge) alive(id string) bool {
	vms := j.sandboxd.History(history.Filter{Sandbox: id, After: 1 << 62}).VMs
	return id != "" && len(vms) == 1 && vms[0].State != history.StateWarm
}

type summary struct{ shown, released, lost int }

func (j *judge) summary() summary {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := summary{shown: len(j.shownOn), released: j.released}
	for _, v := range j.vms {
		if v.lost {
			s.lost++
		}
	}
	return s
}

func podKey(o kubeapi.Object) string { return o.GetNamespace() + "/" + o.GetName() }

func authorityOf(pod kubeapi.Object) types.UID {
	if ref := metav1.GetControllerOf(pod); ref != nil {
		return ref.UID
	}
	return pod.GetUID()
}

// over reports whether a Sandbox allows the release of what it owned.
func over(o kubeapi.Object) bool {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return o.GetDeletionTimestamp() != nil || slices.ContainsFunc(conditions, func(c any) bool {
		m, ok := c.(map[string]any)
		return ok && m["type"] == "Ready" && m["status"] == "False" && m["reason"] == "SandboxExpired"
	})
}

func either(before, after kubeapi.Object) kubeapi.Object {
	if after != nil {
		return after
	}
	return before
}

func phaseOf(pod kubeapi.Object) string  { return statusField(pod, "phase") }
func reasonOf(pod kubeapi.Object) string { return statusField(pod, "reason") }

func statusField(pod kubeapi.Object, field string) string {
	value, _, _ := unstructured.NestedString(pod.Object, "status", field)
	return value
}

func sameStatus(a, b kubeapi.Object) bool {
	return phaseOf(a) == phaseOf(b) && reasonOf(a) == reasonOf(b) &&
		a.GetAnnotations()[podcontract.AnnotationClaimID] == b.GetAnnotations()[podcontract.AnnotationClaimID]
}
