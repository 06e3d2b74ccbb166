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

// TestSecondDaemonWaits starts a second daemon beside a running one, as a rolling update
// can. The second one must neither send requests nor write until the first is killed;
// then it takes over every VM.
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
	w.must(first.wait(killPoint{after: afterReady}))
	w.mustBeEmpty(w.converge(first, w.notRunning))
	before, err := os.ReadFile(w.table)
	w.must(err)

	second := w.start()
	w.mustBeEmpty(w.converge(second, func() []string {
		if strings.Contains(second.output.String(), "waiting for another daemon") || second.requests.Load() > 0 {
			return nil
		}
		return []string{"the second daemon logs that it waits"}
	}))
	time.Sleep(2 * time.Second) // it tries again twice a second
	if n := second.requests.Load(); n != 0 {
		t.Errorf("a second daemon sent %d requests while the first one runs", n)
	}
	after, err := os.ReadFile(w.table)
	w.must(err)
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
	w.mustBeEmpty(w.converge(second, w.leftovers))
	w.mustBeEmpty(w.checker.violations())
	if n := w.sandboxd.History(history.Filter{}).Counters; n.Claimed != pods || n.DestroyedBy[history.BySandbox] != pods {
		t.Errorf("%d VMs were claimed and %d released, want %d of each", n.Claimed, n.DestroyedBy[history.BySandbox], pods)
	}
}

// mustBeEmpty fails the test if anything was found.
func (w *world) mustBeEmpty(found []string) {
	w.t.Helper()
	if len(found) > 0 {
		w.report("two daemons", found)
		w.t.FailNow()
	}
}
