// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"net/http"
	"strings"
	"sync"
)

// milestone is passed once and for all.
type milestone struct {
	once sync.Once
	done chan struct{}
}

func newMilestone() *milestone { return &milestone{done: make(chan struct{})} }

func (m *milestone) pass() { m.once.Do(func() { close(m.done) }) }

func (m *milestone) passed() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// readiness answers /readyz: ready once the pod controller has taken up the
// node's Pods and the Node is registered. The claims table was loaded before,
// by whoever built the provider. Once ready it stays so; an API server or a
// sandboxd that goes away later is no reason to restart or replace the daemon.
type readiness struct {
	pods, node *milestone
}

func newReadiness() readiness { return readiness{pods: newMilestone(), node: newMilestone()} }

// ServeHTTP implements http.Handler: 200, or 503 and what is waited for.
func (r readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	var waiting []string
	if !r.pods.passed() {
		waiting = append(waiting, "the pod controller has not started")
	}
	if !r.node.passed() {
		waiting = append(waiting, "the Node is not registered")
	}
	if len(waiting) > 0 {
		http.Error(w, strings.Join(waiting, "; "), http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok"))
}
