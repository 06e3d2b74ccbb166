// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/crash/kubeapi"
)

// How long things may take at the end. A sandbox that is missing counts as gone
// after five minutes, so the row of a VM whose release was not answered takes longer
// to go than a VM. The rest is for a busy machine.
const (
	convergeWithin = 8 * time.Minute
	// calm is how long everything stays as it is: long enough for the first
	// look at the owners of preserved claims.
	calm       = 20 * time.Second
	stopWithin = 30 * time.Second
)

// settle lifts all faults and leaves a daemon alone: every Pod has to run.
// Then everything is deleted, and nothing may be left.
func (w *world) settle() []string {
	w.sandboxd.Faults.Clear()
	l := w.start()
	stop := w.audit()
	defer stop()
	if err := l.wait(moment{after: afterReady}); err != nil {
		return []string{err.Error()}
	}
	calmed := time.After(calm)
	if left := w.converge(l, w.unserved); len(left) > 0 {
		return append(left, w.judge.violations()...)
	}
	<-calmed
	for _, pod := range w.api.List(kubeapi.Pods) {
		w.api.Change(kubeapi.Pods, podKey(pod), "", kubeapi.Terminate)
	}
	for _, owner := range w.api.List(kubeapi.Sandboxes) {
		w.api.Remove(kubeapi.Sandboxes, podKey(owner), "")
	}
	if left := w.converge(l, w.left); len(left) > 0 {
		return append(left, w.judge.violations()...)
	}
	if err := l.terminate(); err != nil {
		w.judge.violate("%v", err)
	}
	w.judge.output(l.output.String())
	w.judge.afterKill()
	return w.judge.violations()
}

// converge waits until nothing is left, or something is violated.
func (w *world) converge(l *life, what func() []string) []string {
	limit := time.Now().Add(convergeWithin)
	for {
		collectGarbage(w.api)
		left := what()
		if len(left) == 0 || len(w.judge.violations()) > 0 {
			return nil
		}
		select {
		case <-l.ended:
			return []string{"the daemon ended by itself: " + l.cmd.ProcessState.String()}
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(limit) {
			return append([]string{"not so within " + convergeWithin.String() + ":"}, left...)
		}
	}
}

// unserved is every Pod that does not run. One whose VM has ended with its
// lease may still seem to, for as long as the daemon is not sure of that.
func (w *world) unserved() (out []string) {
	for _, pod := range w.api.List(kubeapi.Pods) {
		id := pod.GetAnnotations()[podcontract.AnnotationClaimID]
		switch alive := w.judge.alive(id); {
		case pod.GetDeletionTimestamp() != nil:
			out = append(out, podKey(pod)+" goes")
		case phaseOf(pod) == "Running" && alive, id != "" && !alive:
		default:
			out = append(out, fmt.Sprintf("%s runs (it is %s %s, its sandbox %s lives: %v)", podKey(pod), phaseOf(pod), reasonOf(pod), id, alive))
		}
	}
	return out
}

// left is what should be gone once everything is deleted.
func (w *world) left() (out []string) {
	for _, pod := range w.api.List(kubeapi.Pods) {
		out = append(out, podKey(pod)+" goes")
	}
	for _, v := range w.judge.living() {
		out = append(out, "sandbox "+v+" is destroyed")
	}
	rows, err := readTable(w.table)
	if err != nil {
		out = append(out, err.Error())
	}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("the row of %s of %s goes (releasing: %v)", r.ID, r.Key, r.releasing))
	}
	return out
}

// terminate ends the daemon as Kubernetes does.
func (l *life) terminate() error {
	if err := l.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-l.ended:
	case <-time.After(stopWithin):
		return errors.New("the daemon does not stop at SIGTERM")
	}
	if code := l.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("at SIGTERM the daemon ended with code %d", code)
	}
	l.sandboxd.Close()
	l.api.Close()
	return nil
}
