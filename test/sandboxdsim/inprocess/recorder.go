// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inprocess

import (
	"errors"
	"net/http"
	"sync"
)

// recorder holds an answer until it is flushed, which delivers it, or the client abandons it: one of the two.
type recorder struct {
	header http.Header
	status int
	body   []byte
	// done is closed when the answer is delivered or the handler has ended without one.
	done chan struct{}

	mu        sync.Mutex
	ended     bool
	delivered bool
	abandoned bool
}

func newRecorder() *recorder {
	return &recorder{header: http.Header{}, status: http.StatusOK, done: make(chan struct{})}
}

// serve runs the handler to its end.
func (r *recorder) serve(h http.Handler, req *http.Request) {
	defer r.end(false)
	defer func() {
		p := recover()
		if err, ok := p.(error); p != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
			panic(p)
		}
	}()
	h.ServeHTTP(r, req)
}

// end settles what became of the answer, the first time it is called.
func (r *recorder) end(delivered bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.delivered = true, delivered
		close(r.done)
	}
}

// abandon tells whether the client left before the answer came.
func (r *recorder) abandon() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.abandoned = true, true
	}
	return r.abandoned
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

// FlushError delivers the answer; http.ResponseController calls it.
func (r *recorder) FlushError() error {
	r.end(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.abandoned {
		return http.ErrHandlerTimeout
	}
	return nil
}
