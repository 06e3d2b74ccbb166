// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// reply is an answer before it is written.
type reply struct {
	status     int
	body       []byte
	plain      bool
	retryAfter time.Duration
	allow      string
	// claimed is the VM whose token the answer carries, or would have carried.
	claimed vm
	// truncated tells that the body is not whole.
	truncated bool
}

func ok(body any) (reply, error) {
	b, err := json.Marshal(body)
	return reply{status: http.StatusOK, body: b}, err
}

// apiError is an error with the status it is answered with.
type apiError struct {
	status     int
	message    string
	retryAfter time.Duration
}

func newError(status int, format string, args ...any) *apiError {
	return &apiError{status: status, message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *apiError) Error() string { return e.message }

func (e *apiError) reply() reply {
	b, err := json.Marshal(map[string]string{"error": e.message})
	if err != nil {
		panic(err) // a map of strings always marshals
	}
	return reply{status: e.status, body: b, retryAfter: e.retryAfter}
}

// errorReply is the answer for an error; one without a status is the daemon's own failure.
func errorReply(err error) reply {
	var e *apiError
	if !errors.As(err, &e) {
		e = newError(http.StatusInternalServerError, "%v", err)
	}
	return e.reply()
}

func errNoSandbox(id string) error {
	return newError(http.StatusNotFound, "no sandbox %q", id)
}

// tooMany is the 429 of a daemon that takes no more claims.
func (d *daemon) tooMany(message string) error {
	e := newError(http.StatusTooManyRequests, "%s", message)
	e.retryAfter = d.limits.retryAfter
	return e
}

// write sends the reply and returns an error when it cannot have reached the client.
func (r reply) write(w http.ResponseWriter, req *http.Request) error {
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
	if r.status != http.StatusNoContent {
		h.Set("Content-Type", "application/json")
		if r.plain {
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	if len(r.body) > 0 {
		if _, err := w.Write(r.body); err != nil {
			return err
		}
	}
	return http.NewResponseController(w).Flush()
}
