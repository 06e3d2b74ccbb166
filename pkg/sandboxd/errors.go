// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Class is the kind of failure of an [*Error]; it decides how a caller can react.
type Class string

const (
	// NoCapacity: the node delivered nothing (429, or a redirect to peers).
	// Trying again later can succeed.
	NoCapacity Class = "no warm capacity"
	// Invalid: sandboxd refuses the request (400, 409, 413, 422).
	Invalid Class = "request refused"
	// Unauthorized: the credential was not accepted (401, 403). This does not show
	// whether a sandbox exists.
	Unauthorized Class = "credential refused"
	// NotFound: the id is unknown, or the token does not belong to it (404).
	NotFound Class = "not found"
	// Unavailable: sandboxd failed, or its answer cannot be read.
	Unavailable Class = "sandboxd failed"
	// Unreachable: no answer arrived. The outcome of a claim is then unknown, because
	// sandboxd persists a claim before it answers.
	Unreachable Class = "sandboxd unreachable"
)

// Operations with a hint of their own in [Error].
const (
	opClaim       = "claim"
	opRelease     = "release"
	opReleaseByID = "release by id"
)

// Error is a failed call. Its text is built from the operation, the class and the status
// only, and is constant for one kind of failure, so that events made from it aggregate.
type Error struct {
	// Op is the call that failed, for example "claim".
	Op string
	// Class is the kind of failure.
	Class Class
	// Status is the HTTP status; 0 when no answer arrived.
	Status int
	// Wait is how long sandboxd asked the caller to wait; 0 if it did not.
	Wait time.Duration
	// cause is for errors.Is and is never printed: transport errors contain ephemeral
	// ports, which would make every event unique.
	cause error
	// redirect is the answer of a node that redirects a claim; see [RedirectOf].
	redirect *Redirect
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("sandboxd %s: %s", e.Op, e.Class)
	if e.Status != 0 && e.Status != http.StatusOK {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if hint := e.hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

// hint returns what to do next. Only a release presents the sandbox's own token, and only
// a claim names a pool.
func (e *Error) hint() string {
	switch {
	case e.Class == NoCapacity:
		return "retried until the pool has capacity"
	case e.Class == Invalid && e.Op == opClaim:
		return "check its template, net and size against the node's pools"
	case e.Class == Unauthorized && e.Op != opRelease:
		return "check the node API token"
	case e.Class == Unreachable:
		return "check that sandboxd runs and that its URL is right"
	case e.Class == NotFound:
		return ""
	default:
		return "see sandboxd's own log"
	}
}

// Unwrap returns the transport error, for errors.Is with context errors.
func (e *Error) Unwrap() error { return e.cause }

// RetryAfter is how long sandboxd asked the caller to wait; 0 if it did not.
func (e *Error) RetryAfter() time.Duration { return e.Wait }

// ClassOf returns the class of err; empty if err is not a failed sandboxd call.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

// OutcomeUnknown reports whether sandboxd may have acted on the request although no
// answer arrived.
func OutcomeUnknown(err error) bool {
	var dial *net.OpError
	return ClassOf(err) == Unreachable && (!errors.As(err, &dial) || dial.Op != "dial")
}

func classify(status int) Class {
	switch status {
	case http.StatusTooManyRequests:
		return NoCapacity
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return Invalid
	case http.StatusUnauthorized, http.StatusForbidden:
		return Unauthorized
	case http.StatusNotFound:
		return NotFound
	default:
		return Unavailable
	}
}
