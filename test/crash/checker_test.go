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

// checker records the published statuses, the node's events and the file, and checks
// them against docs/pod-contract.md.
type checker struct {
	sandboxd *sandboxdsim.Server
	table    string

	mu        sync.Mutex
	vms       map[string]*vm          // every claimed VM, by id
	shownOn   map[types.UID]string    // the VM that a Pod was shown on
	holders   map[string][]holder     // the authorities that had a Pod under a key, in order
	endedAt   map[types.UID]time.Time // when an authority began to allow a release
	lastEvent int64
	lastRun   int64 // the last event of the previous process
	released  int
	found     []string
}

// vm is a claimed VM.
type vm struct {
	id, key string
	claimed history.Event
	// authority is empty until a Pod or a row names it.
	authority types.UID
	shown     bool // as Running, on a Pod
	recorded  bool // in the file
	answered  bool // the daemon was sent its token
	lost      bool // a kill lost its answer
}

// holder is an authority that has had a Pod under a key.
type holder struct {
	authority types.UID
	since     time.Time
}

func newChecker(sandboxd *sandboxdsim.Server, table string) *checker {
	return &checker{
		sandboxd: sandboxd, table: table, vms: map[string]*vm{}, shownOn: map[types.UID]string{},
		holders: map[string][]holder{}, endedAt: map[types.UID]time.Time{},
	}
}

func (c *checker) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addLocked(format, args...)
}

// addLocked records a violation once. The caller holds mu.
func (c *checker) addLocked(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(c.found) < 20 && !slices.Contains(c.found, text) {
		c.found = append(c.found, text)
	}
}

func (c *checker) violations() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.found)
}

// inspect searches a request to the API server for tokens.
func (c *checker) inspect(request string) {
	if leaks(request) {
		c.add("a token was sent to the API server: %s", redact([]byte(request)))
	}
}

// output checks the output of a process.
func (c *checker) output(text string) {
	for line := range strings.Lines(text) {
		if leaks(line) {
			c.add("a token was logged: %s", redact([]byte(line)))
		}
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			c.add("the daemon crashed on its own: %s", line)
		}
	}
}

func leaks(text string) bool {
	return strings.Contains(text, rootToken) || strings.Contains(text, host.TokenPrefix)
}

// observe receives every change in the API server before any watcher does.
func (c *checker) observe(resource string, before, after kubeapi.Object) {
	now := time.Now()
	switch resource {
	case kubeapi.Sandboxes:
		if after == nil || ownerEnded(after) {
			c.recordEnd(before, after, now)
		}
	case kubeapi.Pods:
		if bare := metav1.GetControllerOf(either(before, after)) == nil; bare && (after == nil || after.GetDeletionTimestamp() != nil) {
			c.recordEnd(before, after, now)
		}
		if before == nil {
			c.mu.Lock()
			key := podKey(after)
			c.holders[key] = append(c.holders[key], holder{authorityOf(after), now})
			c.mu.Unlock()
		}
		if after != nil && before != nil && !sameStatus(before, after) {
			c.published(before, after)
		}
	}
}

// recordEnd records when an object began to allow the release of its VMs.
func (c *checker) recordEnd(before, after kubeapi.Object, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	uid := either(before, after).GetUID()
	if _, ended := c.endedAt[uid]; !ended {
		c.endedAt[uid] = now
	}
}

// published checks a published status of a Pod.
func (c *checker) published(before, after kubeapi.Object) {
	id, key, phase := after.GetAnnotations()[podcontract.AnnotationClaimID], podKey(after), phaseOf(after)
	// The row exists from before the status until the end of the VM. A VM that lives
	// after this read must have a row in it.
	rows, err := readTable(c.table)
	alive := c.alive(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.addLocked("when %s was published: %v", key, err)
	}
	if phase == "Failed" && alive {
		c.addLocked("%s was published Failed (%s) while its sandbox %s lives", key, reasonOf(after), id)
	}
	if phaseOf(before) == "Running" && phase == "Pending" {
		c.addLocked("%s was Running and was published Pending (%s)", key, reasonOf(after))
	}
	if phase != "Running" {
		return
	}
	if _, ok := rows[id]; !ok && alive {
		c.addLocked("%s was published Running on %s, which has no row", key, id)
	}
	if other := c.shownOn[after.GetUID()]; other != "" && other != id {
		c.addLocked("pod %s of %s ran on %s and now runs on %s", after.GetUID(), key, other, id)
	}
	c.shownOn[after.GetUID()] = id
	c.readEvents()
	v := c.vms[id]
	if v == nil {
		c.addLocked("%s was published Running on %q, which was never claimed", key, id)
		return
	}
	v.shown = true
	if v.key != key {
		c.addLocked("sandbox %s of %s was published on %s", id, v.key, key)
	}
	c.checkAuthority(v, authorityOf(after))
}

// checkAuthority compares the authority in a Pod or a row with the known one. The
// caller holds mu.
func (c *checker) checkAuthority(v *vm, authority types.UID) {
	if v.authority == "" {
		v.authority = authority
	}
	if v.authority != authority {
		c.addLocked("sandbox %s of %s (%s) was given to %s", v.id, v.key, v.authority, authority)
	}
}

// alive reports whether a sandbox is claimed and lives now.
func (c *checker) alive(id string) bool {
	vms := c.sandboxd.History(history.Filter{Sandbox: id, After: 1 << 62}).VMs
	return id != "" && len(vms) == 1 && vms[0].State != history.StateWarm
}

type summary struct{ shown, released, lost int }

func (c *checker) summary() summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := summary{shown: len(c.shownOn), released: c.released}
	for _, v := range c.vms {
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

// ownerEnded reports whether a Sandbox allows the release of its VM.
func ownerEnded(o kubeapi.Object) bool {
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
