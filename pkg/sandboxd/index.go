// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"errors"
	"net/http"
	"net/url"
)

// List returns every sandbox the node holds. An answer without a list, or
// with a row that has no readable id, is an error and never a shorter list: a
// caller takes an id that is not listed for absent. A row that has its id and
// another field that cannot be read is listed as [Sandbox.Malformed].
func (cl *Client) List(ctx context.Context) ([]Sandbox, error) {
	var a struct {
		Sandboxes *[]indexRow `json:"sandboxes"`
	}
	c := call{op: "list", method: http.MethodGet, path: "/v1/sandboxes"}
	if err := cl.do(ctx, c, &a); err != nil {
		return nil, err
	}
	if a.Sandboxes == nil {
		return nil, unreadable(c.op, http.StatusOK)
	}
	rows := make([]Sandbox, 0, len(*a.Sandboxes))
	for _, r := range *a.Sandboxes {
		if r.ID == "" {
			return nil, unreadable(c.op, http.StatusOK)
		}
		rows = append(rows, r.Sandbox)
	}
	cl.malformed.listed(ctx, rows)
	return rows, nil
}

// Get returns one row of the index, which can be [Sandbox.Malformed]. An
// unknown id is an error of class [NotFound].
func (cl *Client) Get(ctx context.Context, id string) (Sandbox, error) {
	var r indexRow
	c := call{op: "get", method: http.MethodGet}
	var err error
	if c.path, err = sandboxPath(c.op, id); err != nil {
		return Sandbox{}, err
	}
	if err := cl.do(ctx, c, &r); err != nil {
		if ClassOf(err) == NotFound {
			cl.malformed.read(ctx, id, Sandbox{})
		}
		return Sandbox{}, err
	}
	if r.ID != id {
		return Sandbox{}, unreadable(c.op, http.StatusOK)
	}
	cl.malformed.read(ctx, id, r.Sandbox)
	return r.Sandbox, nil
}

// addressable reports whether a path can carry the id as one segment. The
// others are dropped or resolved on the way, and would name another resource.
func addressable(id string) bool { return id != "" && id != "." && id != ".." }

// sandboxPath is the path of one sandbox; with an id that is not addressable
// nothing is sent.
func sandboxPath(op, id string) (string, error) {
	if !addressable(id) {
		return "", &Error{Op: op, Class: Invalid, cause: errID}
	}
	return "/v1/sandboxes/" + url.PathEscape(id), nil
}

var errID = errors.New("not a sandbox id")

// Info returns the node's pools and counts.
func (cl *Client) Info(ctx context.Context) (Info, error) {
	var i Info
	err := cl.do(ctx, call{op: "info", method: http.MethodGet, path: "/v1/info"}, &i)
	return i, err
}
