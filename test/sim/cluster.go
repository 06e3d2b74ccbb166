// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"net/http"
	"sync"
	"testing/synctest"
	"time"
)

// The UIDs of the two clusters' kube-system Namespaces.
const (
	homeCluster  = "home"
	otherCluster = "other"
)

// address is where the daemon looks for its API server. Another cluster can
// answer there.
type address struct {
	mu  sync.Mutex
	api *API
}

func (a *address) current() *API {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.api
}

func (a *address) set(api *API) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.api = api
}

// RoundTrip implements [http.RoundTripper].
func (a *address) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.current().RoundTrip(req)
}

// placed reports whether the table says which cluster it belongs to. One that does not
// takes the first that it meets for its own.
func (w *World) placed() bool {
	synctest.Wait()
	return bytes.Contains(w.FS.Durable(tablePath), []byte(`"place"`))
}

// StartElsewhere stops the daemon and runs it for a while against another
// cluster, which has none of its owners; with crowded it has Pods of the same
// names. The daemon is left stopped, and its own cluster is back.
func (w *World) StartElsewhere(span time.Duration, crowded bool) {
	if !w.placed() {
		return
	}
	w.Stop()
	other := NewAPI(otherCluster, w.leak.look)
	for i := range uint32(5) {
		if crowded {
			other.CreateOwner(name(i))
			other.CreatePod(name(i), false, "86400")
		}
	}
	w.address.set(other)
	w.model.abroad.Store(true)
	w.restart()
	w.Wait(span)
	w.Stop()
	w.model.abroad.Store(false)
	w.address.set(w.API)
}

// AnswerFromElsewhere lets another cluster, an empty one, answer the running
// daemon for a while. Its watches end, so it lists again each time.
func (w *World) AnswerFromElsewhere(span time.Duration) {
	if w.daemon == nil || !w.placed() {
		return
	}
	k := w.daemon.kubelet
	other := NewAPI(otherCluster, w.leak.look)
	w.address.set(other)
	k.watch(other)
	k.relist(other.Pods())
	w.Wait(span)
	w.address.set(w.API)
	k.relist(w.API.Pods())
}
