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

// Class says what kind of answer an [*Error] stands for, and so what may be
// done about it.
type Class string

const (
	// NoCapacity: the node delivered nothing (429, or a redirect to peers).
	// Trying again later can succeed.
	NoCapacity Class = "no warm capacity"
	// Invalid: sandboxd refuses the request as it stands (400, 409, 413, 422).
	Invalid Class = "request refused"
	// Unauthorized: the credential was not accepted (401, 403). It never says
	// anything about whether a sandbox exists.
	Unauthorized Class = "credential refused"
	// NotFound: the id is unknown, or the token does not fit it (404).
	NotFound Class = "not found"
	// Unavailable: sandboxd failed or answered something that cannot be read.
	Unavailable Class = "sandboxd failed"
	// Unreachable: no answer arrived. For a claim that means the outcome is
	// unknown: sandboxd persists a claim before it answers.
	Unreachable Class = "sandboxd unreachable"
)

// The operations that an [Error]'s hint tells apart.
const (
	opClaim       = "claim"
	opRelease     = "release"
	opReleaseByID = "release by id"
)

// Error is a failed call. Its text is built from the operation, the class and
// the status only; it is constant for one kind of failure, so that events
// made from it aggregate.
type Error struct {
	// Op is the call that failed, for example "claim".
	Op string
	// Class says what kind of failure it was.
	Class Class
	// Status is the HTTP status; 0 when no answer arrived.
	Status int
	// Wait is how long sandboxd asked the caller to stay away; 0 when it did
	// not say.
	Wait time.Duration
	// cause is kept for errors.Is, never printed: transport errors name
	// ephemeral ports and would make every event unique.
	cause error
	// redirect is what a node that redirects a claim answered; [RedirectOf] gives it.
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

// hint says what to do next. A release presents the sandbox's own token, and
// only a claim names a pool.
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

// Unwrap gives the transport error, for errors.Is with context errors.
func (e *Error) Unwrap() error { return e.cause }

// RetryAfter is how long sandboxd asked the caller to wait; 0 if it did not.
func (e *Error) RetryAfter() time.Duration { return e.Wait }

// ClassOf returns the class of err, or the empty class when err is not a
// failed sandboxd call.
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}

// OutcomeUnknown reports whether err leaves open what sandboxd did: a request
// went out, or may have, and no answer came.
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
