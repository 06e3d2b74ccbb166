// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
)

// counter notes each request on its way to an API server.
type counter struct {
	next http.Handler
	// registered receives the name of a Node each time it is created.
	registered chan string

	mu    sync.Mutex
	times []time.Time
	wide  int
}

// ServeHTTP implements [http.Handler].
func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.times = append(c.times, time.Now())
	if clusterWide(r) {
		c.wide++
	}
	c.mu.Unlock()
	if strings.Contains(r.URL.Path, "/sandbox.cocoonstack.io/") {
		echo(w, r)
		return
	}
	c.next.ServeHTTP(w, r)
	if r.Method == http.MethodPost && r.URL.Path == "/api/v1/nodes" {
		c.registered <- r.URL.Path
	}
}

// clusterWide reports a list or watch that no field narrows to what is one
// node's.
func clusterWide(r *http.Request) bool {
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodGet || len(path) < 3 {
		return false
	}
	// What follows the version; two parts more where it is in a namespace.
	rest := path[2:]
	if path[0] == "apis" {
		rest = path[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		rest = rest[2:]
	}
	selector := r.URL.Query().Get("fieldSelector")
	return len(rest) == 1 && !strings.HasPrefix(selector, "spec.nodeName=") && !strings.HasPrefix(selector, "metadata.name=")
}

// echo answers for the node's own objects, which the API server has no schema
// of: what is applied comes back, and a watch sees nothing.
func echo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	_, _ = io.Copy(w, r.Body) // a client that has gone does not read it
}

func (c *counter) waitRegistered(ctx context.Context, n int) error {
	limit := time.NewTimer(cluster.WaitTimeout)
	defer limit.Stop()
	for i := range n {
		select {
		case <-c.registered:
		case <-limit.C:
			return fmt.Errorf("%d of %d Nodes have registered", i, n)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// summary returns how many requests there were, how many of them were lists or
// watches of a whole cluster, and how many came within one window at most.
func (c *counter) summary(window time.Duration) (total, wide, peak int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortFunc(c.times, time.Time.Compare)
	first := 0
	for i, t := range c.times {
		for t.Sub(c.times[first]) >= window {
			first++
		}
		peak = max(peak, i-first+1)
	}
	return len(c.times), c.wide, peak
}
