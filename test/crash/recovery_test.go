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

// Time limits at the end. A missing sandbox counts as gone after five minutes, so the
// row of a VM whose release was not answered outlives the VM. The margin is for a busy
// machine.
const (
	convergeWithin = 8 * time.Minute
	// idleTime is how long nothing changes: long enough for the first owner re-check of
	// preserved claims.
	idleTime   = 20 * time.Second
	stopWithin = 30 * time.Second
)

// checkRecovery lifts all faults and lets one daemon run: every Pod must become
// Running. Then it deletes everything, and no row or VM may remain.
func (w *world) checkRecovery() []string {
	w.sandboxd.Faults.Clear()
	l := w.start()
	stop := w.audit()
	defer stop()
	if err := l.wait(killPoint{after: afterReady}); err != nil {
		return []string{err.Error()}
	}
	idleEnd := time.After(idleTime)
	if left := w.converge(l, w.notRunning); len(left) > 0 {
		return append(left, w.checker.violations()...)
	}
	<-idleEnd
	for _, pod := range w.api.List(kubeapi.Pods) {
		w.api.Change(kubeapi.Pods, podKey(pod), "", kubeapi.Terminate)
	}
	for _, owner := range w.api.List(kubeapi.Sandboxes) {
		w.api.Remove(kubeapi.Sandboxes, podKey(owner), "")
	}
	if left := w.converge(l, w.leftovers); len(left) > 0 {
		return append(left, w.checker.violations()...)
	}
	if err := l.terminate(); err != nil {
		w.checker.add("%v", err)
	}
	w.checker.output(l.output.String())
	w.checker.checkAfterKill()
	return w.checker.violations()
}

// converge waits until what returns nothing or a violation was found.
func (w *world) converge(l *process, what func() []string) []string {
	limit := time.Now().Add(convergeWithin)
	for {
		collectGarbage(w.api)
		left := what()
		if len(left) == 0 || len(w.checker.violations()) > 0 {
			return nil
		}
		select {
		case <-l.ended:
			return []string{"the daemon ended on its own: " + l.cmd.ProcessState.String()}
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(limit) {
			return append([]string{"not reached within " + convergeWithin.String() + ":"}, left...)
		}
	}
}

// notRunning returns the Pods that do not run. A Pod whose VM ended with its lease may
// stay Running until the daemon has confirmed the end.
func (w *world) notRunning() (out []string) {
	for _, pod := range w.api.List(kubeapi.Pods) {
		id := pod.GetAnnotations()[podcontract.AnnotationClaimID]
		switch alive := w.checker.alive(id); {
		case pod.GetDeletionTimestamp() != nil:
			out = append(out, podKey(pod)+" is removed")
		case phaseOf(pod) == "Running" && alive, id != "" && !alive:
		default:
			out = append(out, fmt.Sprintf("%s runs (it is %s %s, its sandbox %s lives: %v)", podKey(pod), phaseOf(pod), reasonOf(pod), id, alive))
		}
	}
	return out
}

// leftovers returns what remains although everything was deleted.
func (w *world) leftovers() (out []string) {
	for _, pod := range w.api.List(kubeapi.Pods) {
		out = append(out, podKey(pod)+" is removed")
	}
	for _, v := range w.checker.livingSeen() {
		out = append(out, "sandbox "+v+" is destroyed")
	}
	rows, err := readTable(w.table)
	if err != nil {
		out = append(out, err.Error())
	}
	for _, r := range rows {
		out = append(out, fmt.Sprintf("the row of %s of %s is removed (releasing: %v)", r.ID, r.Key, r.releasing))
	}
	return out
}

// terminate ends the daemon as Kubernetes does.
func (l *process) terminate() error {
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
