// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

// List returns every sandbox the node holds. An answer without a list, or
// with a row that has no id, is an error and never an empty list.
func (cl *Client) List(ctx context.Context) ([]Sandbox, error) {
	var a struct {
		Sandboxes *[]Sandbox `json:"sandboxes"`
	}
	c := call{op: "list", method: http.MethodGet, path: "/v1/sandboxes"}
	if err := cl.do(ctx, c, &a); err != nil {
		return nil, err
	}
	if a.Sandboxes == nil {
		return nil, unreadable(c.op, http.StatusOK)
	}
	for _, s := range *a.Sandboxes {
		if s.ID == "" {
			return nil, unreadable(c.op, http.StatusOK)
		}
	}
	return *a.Sandboxes, nil
}

// Get returns one row of the index. An unknown id is an error of class
// [NotFound].
func (cl *Client) Get(ctx context.Context, id string) (Sandbox, error) {
	var s Sandbox
	c := call{op: "get", method: http.MethodGet, path: "/v1/sandboxes/" + url.PathEscape(id)}
	if err := cl.do(ctx, c, &s); err != nil {
		return Sandbox{}, err
	}
	if s.ID != id {
		return Sandbox{}, unreadable(c.op, http.StatusOK)
	}
	return s, nil
}

// Gone reports whether the node no longer holds the sandbox. It answers true
// only when the single read says that the id is unknown and a complete
// listing, read after it, lacks it too: a 404 for one path is also what a proxy
// or a daemon without that route would say. A query that failed is an error,
// never an absence (architecture).
//
// A daemon that has just restarted may still be rebuilding its index, so a
// caller for whom being wrong is costly asks again after a while.
func (cl *Client) Gone(ctx context.Context, id string) (bool, error) {
	if _, err := cl.Get(ctx, id); ClassOf(err) != NotFound {
		return false, err
	}
	all, err := cl.List(ctx)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(all, func(s Sandbox) bool { return s.ID == id }), nil
}

// Info returns the node's pools and counts.
func (cl *Client) Info(ctx context.Context) (Info, error) {
	var i Info
	err := cl.do(ctx, call{op: "info", method: http.MethodGet, path: "/v1/info"}, &i)
	return i, err
}

// Healthy returns nil when sandboxd answers its health check. No token is sent.
func (cl *Client) Healthy(ctx context.Context) error {
	return cl.do(ctx, call{op: "healthz", method: http.MethodGet, path: "/healthz", token: &Token{}}, nil)
}
