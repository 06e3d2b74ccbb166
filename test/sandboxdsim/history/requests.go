// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxRequests bounds the log; the counts go on.
const maxRequests = 100_000

// Request is one request as the daemon saw it.
type Request struct {
	// Seq counts from 1 without gaps.
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"time"`
	Endpoint string    `json:"endpoint"`
	Method   string    `json:"method"`
	// Path has the query with it.
	Path string `json:"path"`
	// By is the kind of token, where the request got as far as having it checked.
	By Actor `json:"by,omitempty"`
	// Status is the answer's; 0: the connection was closed without one.
	Status int             `json:"status"`
	Took   metav1.Duration `json:"took"`
}

// RequestLog is what the daemon was asked since the process started.
type RequestLog struct {
	// Requests are the latest, at most 100,000.
	Requests []Request `json:"requests"`
	// Counts has the number of all requests by endpoint.
	Counts map[string]int `json:"counts"`
}

// Requests collects a RequestLog. The zero value is empty.
type Requests struct {
	mu     sync.Mutex
	last   int64
	kept   []Request
	counts map[string]int
}

// Add completes the request with its number and keeps it.
func (l *Requests) Add(r Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	r.Seq = l.last
	if len(l.kept) == maxRequests {
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, r)
	if l.counts == nil {
		l.counts = map[string]int{}
	}
	l.counts[r.Endpoint]++
}

// RequestFilter narrows a log; the zero value lets everything pass.
type RequestFilter struct {
	// Endpoint is one endpoint's name.
	Endpoint string
	// After is the Seq of the last request that is not wanted any more.
	After int64
}

// List returns the log. A client that has its answer finds the request in it.
func (l *Requests) List(f RequestFilter) RequestLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := RequestLog{Requests: []Request{}, Counts: maps.Clone(l.counts)}
	for _, r := range l.kept {
		if r.Seq > f.After && (f.Endpoint == "" || r.Endpoint == f.Endpoint) {
			log.Requests = append(log.Requests, r)
		}
	}
	return log
}
