// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// Reply is an answer before it is written.
type Reply struct {
	Status     int
	body       []byte
	plain      bool
	retryAfter time.Duration
	allow      string
	// claimed is the VM whose token the answer carries, or would have carried.
	claimed host.VM
	// truncated tells that the body is not whole.
	truncated bool
}

// OK returns a 200 with a body that is sent as JSON.
func OK(body any) (Reply, error) {
	b, err := json.Marshal(body)
	return Reply{Status: http.StatusOK, body: b}, err
}

// ErrorReply is the answer for an error; one without a status is the daemon's own failure.
func ErrorReply(err error) Reply {
	var e *host.Error
	if !errors.As(err, &e) {
		e = host.Errorf(http.StatusInternalServerError, "%v", err)
	}
	b, err := json.Marshal(map[string]string{"error": e.Message})
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return Reply{Status: e.Status, body: b, retryAfter: e.RetryAfter}
}

// Write sends the reply and returns an error when it cannot have reached the client.
func (r Reply) Write(w http.ResponseWriter, req *http.Request) error {
	if err := req.Context().Err(); err != nil {
		return err
	}
	h := w.Header()
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(r.retryAfter.Seconds()))))
	}
	if r.allow != "" {
		h.Set("Allow", r.allow)
	}
	if r.Status != http.StatusNoContent {
		h.Set("Content-Type", "application/json")
		if r.plain {
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.Status)
	if len(r.body) > 0 {
		if _, err := w.Write(r.body); err != nil {
			return err
		}
	}
	return http.NewResponseController(w).Flush()
}
