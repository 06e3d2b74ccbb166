// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrDropped makes the connection close without an answer.
var ErrDropped = errors.New("connection dropped")

// Error is a refusal with the status it is answered with.
type Error struct {
	Status     int
	Message    string
	RetryAfter time.Duration
}

// Errorf returns an Error.
func Errorf(status int, format string, args ...any) *Error {
	return &Error{Status: status, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// NoSandbox is the 404 of an id that no claimed VM has.
func NoSandbox(id string) error {
	return Errorf(http.StatusNotFound, "no sandbox %q", id)
}

// unattached is the 409 of an egress lane that the node has no attachment for.
func unattached(net string) error {
	return Errorf(http.StatusConflict, "net %q: this node has no such egress attachment", net)
}

// tooMany is the 429 of a daemon that takes no more claims.
func (l limits) tooMany(message string) error {
	e := Errorf(http.StatusTooManyRequests, "%s", message)
	e.RetryAfter = l.retryAfter
	return e
}

// ignoreDropped makes the steps of a stopped daemon do nothing.
func ignoreDropped(err error) error {
	if errors.Is(err, ErrDropped) {
		return nil
	}
	return err
}
