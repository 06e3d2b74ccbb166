// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is what a fault does to a request.
type Action string

const (
	// ActionStatus answers with Status, Message and, if set, RetryAfter.
	ActionStatus Action = "status"
	// ActionDelay waits for Delay and goes on, whether or not the client is still there.
	ActionDelay Action = "delay"
	// ActionDrop closes the connection without an answer.
	ActionDrop Action = "drop"
	// ActionHang never answers; it ends when the client goes or the daemon stops.
	ActionHang Action = "hang"
	// ActionRestart restarts the daemon in the middle of the request.
	ActionRestart Action = "restart"
	// ActionRejectToken treats whatever token came as one nobody knows.
	ActionRejectToken Action = "reject-token"
	// ActionRejectSandboxToken treats a sandbox's own token as one nobody knows. The root token still works.
	ActionRejectSandboxToken Action = "reject-sandbox-token"
	// ActionOmit leaves rows out of the index: those of ClaimRefs and Sandboxes, the Rows oldest, and that
	// Fraction of all, the oldest first.
	ActionOmit Action = "omit"
	// ActionEmpty leaves every row out of the index.
	ActionEmpty Action = "empty"
	// ActionTruncate cuts the answer's body in half; its status stays.
	ActionTruncate Action = "truncate"
	// ActionRewrite sets Fields in a successful answer: in the rows of "list", elsewhere in the object itself. Of a
	// list it changes the rows of ClaimRefs and Sandboxes and the Rows oldest, and every row when none is given.
	ActionRewrite Action = "rewrite"
)

// Point is the moment in a request's life at which a fault strikes.
type Point string

const (
	// PointRequest is before anything is done.
	PointRequest Point = "request"
	// PointResponse is when everything is done and kept, and the answer not yet written.
	PointResponse Point = "response"
)

// Fault is something that goes wrong. Faults are tried in the order they were added; those with
// ActionDelay, ActionRejectToken, ActionRejectSandboxToken, ActionOmit, ActionEmpty, ActionTruncate or
// ActionRewrite let later ones have their turn, the others settle the request.
type Fault struct {
	// ID is given by [Set.Add].
	ID int `json:"id,omitempty"`
	// Endpoint is the name of an endpoint; empty: every endpoint.
	Endpoint string `json:"endpoint,omitempty"`
	Action   Action `json:"action"`
	// Sandboxes limits the fault to requests for one of these ids. Where the path has no id, only ActionOmit and
	// ActionRewrite strike, and the ids name rows.
	Sandboxes []string `json:"sandboxes,omitempty"`
	// Point defaults to PointResponse for ActionTruncate and ActionRewrite and to PointRequest for the others.
	Point Point `json:"point,omitempty"`

	// Skip lets that many requests pass first.
	Skip int `json:"skip,omitempty"`
	// Count is the number of requests it strikes; 0: until it is removed.
	Count int `json:"count,omitempty"`
	// Probability strikes at random, drawn from Seed; 0: always.
	Probability float64 `json:"probability,omitempty"`
	Seed        uint64  `json:"seed,omitempty"`
	// For is the time after which it removes itself; 0: never.
	For metav1.Duration `json:"for,omitzero"`

	Status     int             `json:"status,omitempty"`
	Message    string          `json:"message,omitempty"`
	RetryAfter metav1.Duration `json:"retry_after,omitzero"`
	Delay      metav1.Duration `json:"delay,omitzero"`
	ClaimRefs  []string        `json:"claim_refs,omitempty"`
	Rows       int             `json:"rows,omitempty"`
	Fraction   float64         `json:"fraction,omitempty"`
	// Fields are the fields that ActionRewrite sets, as JSON; null removes one.
	Fields map[string]json.RawMessage `json:"fields,omitempty"`
}

func (f Fault) withDefaults() Fault {
	if f.Point == "" {
		f.Point = PointRequest
		if f.Action == ActionTruncate || f.Action == ActionRewrite {
			f.Point = PointResponse
		}
	}
	if f.Action == ActionStatus && f.Message == "" {
		f.Message = "injected fault: " + http.StatusText(f.Status)
	}
	return f
}

func (f Fault) settles() bool {
	switch f.Action {
	case ActionDelay, ActionRejectToken, ActionRejectSandboxToken, ActionOmit, ActionEmpty, ActionTruncate, ActionRewrite:
		return false
	}
	return true
}

func (f Fault) validate(endpoints []string) error {
	if f.Endpoint != "" && !slices.Contains(endpoints, f.Endpoint) {
		return fmt.Errorf("unknown endpoint %q: use one of %q", f.Endpoint, endpoints)
	}
	if f.Point != PointRequest && f.Point != PointResponse {
		return fmt.Errorf("unknown point %q: use %s or %s", f.Point, PointRequest, PointResponse)
	}
	if f.Skip < 0 || f.Count < 0 || f.For.Duration < 0 || f.Probability < 0 || f.Probability > 1 {
		return errors.New("skip, count and for cannot be negative, and probability lies between 0 and 1")
	}
	return f.validateAction()
}

func (f Fault) validateAction() error {
	atRequest := false
	switch f.Action {
	case ActionDrop, ActionHang, ActionRestart:
	case ActionStatus:
		if f.Status < 200 || f.Status > 599 {
			return fmt.Errorf("status %d: set one from 200 to 599", f.Status)
		}
	case ActionDelay:
		if f.Delay.Duration <= 0 {
			return errors.New("delay: set how long")
		}
	case ActionOmit:
		if len(f.ClaimRefs)+len(f.Sandboxes) == 0 && f.Rows <= 0 && (f.Fraction <= 0 || f.Fraction > 1) {
			return errors.New("omit: set claim_refs, sandboxes, rows or fraction (up to 1)")
		}
		atRequest = true
	case ActionEmpty, ActionRejectToken, ActionRejectSandboxToken:
		atRequest = true
	case ActionTruncate:
		if f.Point != PointResponse {
			return errors.New("truncate strikes at the response only")
		}
	case ActionRewrite:
		return f.validateRewrite()
	default:
		return fmt.Errorf("unknown action %q", f.Action)
	}
	if atRequest && f.Point != PointRequest {
		return fmt.Errorf("%s strikes at the request only", f.Action)
	}
	return nil
}
