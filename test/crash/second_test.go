// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// TestSecondDaemonWaits starts a daemon beside one that runs, as a rolling
// update can. It has to wait, ask nothing and write nothing, until the first
// has been killed; then it takes over every VM.
func TestSecondDaemonWaits(t *testing.T) {
	const pods = 8
	w := newWorld(t, program(t), 1)
	w.sandboxd.Faults.Clear()
	for i := range pods {
		key := fmt.Sprintf("team-0/sandbox-%d", i)
		createSandbox(w.api, key)
		createPod(w.api, key, i%2 == 0, "")
	}
	first := w.start()
	w.do(first.wait(moment{after: afterReady}))
	w.allOf(w.converge(first, w.unserved))
	before, err := os.ReadFile(w.table)
	w.do(err)

	second := w.start()
	w.allOf(w.converge(second, func() []string {
		if strings.Contains(second.output.String(), "waiting for another daemon") || second.requests.Load() > 0 {
			return nil
		}
		return []string{"the second daemon says that it waits"}
	}))
	time.Sleep(2 * time.Second) // it tries again twice a second
	if n := second.requests.Load(); n != 0 {
		t.Errorf("a second daemon sent %d requests while the first one runs", n)
	}
	after, err := os.ReadFile(w.table)
	w.do(err)
	if !bytes.Equal(before, after) {
		t.Error("the claims file has changed while a second daemon waited")
	}

	first.kill()
	for _, owner := range w.api.List(kubeapi.Sandboxes) {
		w.api.Remove(kubeapi.Sandboxes, podKey(owner), "")
	}
	for _, pod := range w.api.List(kubeapi.Pods) {
		w.api.Change(kubeapi.Pods, podKey(pod), "", kubeapi.Terminate)
	}
	w.allOf(w.converge(second, w.left))
	w.allOf(w.judge.violations())
	if n := w.sandboxd.History(history.Filter{}).Counters; n.Claimed != pods || n.DestroyedBy[history.BySandbox] != pods {
		t.Errorf("%d VMs were claimed and %d released, want %d of each", n.Claimed, n.DestroyedBy[history.BySandbox], pods)
	}
}

// allOf fails the test when anything was found.
func (w *world) allOf(found []string) {
	w.t.Helper()
	if len(found) > 0 {
		w.report("two daemons", found)
		w.t.FailNow()
	}
}
