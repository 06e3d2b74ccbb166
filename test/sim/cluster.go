// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sim/apiserver"
)

// The UIDs of the two clusters' kube-system Namespaces.
const (
	homeCluster  = "home"
	otherCluster = "other"
)

// placed reports whether the table records its cluster. A table without one adopts the
// first cluster that the daemon reaches.
func (w *World) placed() bool {
	synctest.Wait()
	return bytes.Contains(w.FS.Durable(tablePath), []byte(`"place"`))
}

// StartElsewhere stops the daemon and runs it for span against another cluster, which
// has none of its owners; with crowded that cluster has Pods of the same names. At the
// end the daemon is stopped and its own cluster answers again.
func (w *World) StartElsewhere(span time.Duration, crowded bool) {
	if !w.placed() {
		return
	}
	w.Stop()
	other := apiserver.New(otherCluster, w.leaks.Look)
	for i := range uint32(5) {
		if crowded {
			other.CreateOwner(name(i))
			other.CreatePod(name(i), false, "86400")
		}
	}
	w.address.Set(other)
	w.model.SetInOtherCluster(true)
	w.restart()
	w.Wait(span)
	w.Stop()
	w.model.SetInOtherCluster(false)
	w.address.Set(w.API)
}

// AnswerFromElsewhere lets another, empty cluster answer the running daemon for span.
// The daemon lists again at the beginning and at the end, because its watches end.
func (w *World) AnswerFromElsewhere(span time.Duration) {
	if w.daemon == nil || !w.placed() {
		return
	}
	k := w.daemon.kubelet
	other := apiserver.New(otherCluster, w.leaks.Look)
	w.address.Set(other)
	k.Watch(other)
	k.Relist(other.Pods())
	w.Wait(span)
	w.address.Set(w.API)
	k.Relist(w.API.Pods())
}
