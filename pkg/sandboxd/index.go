// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Key is a pool's identity.
type Key struct {
	Template string `json:"template"`
	Net      string `json:"net"`
	Size     string `json:"size"`
}

// Sandbox is one row of the node's index. It never has a token.
type Sandbox struct {
	ID  string `json:"id"`
	Key Key    `json:"key"`
	// Deadline is the end of the lease; zero when it is not known.
	Deadline   time.Time `json:"deadline"`
	Hibernated bool      `json:"hibernated"`
	// Archived sandboxes have left the node's memory and disk; their deadline
	// is the store's retention window.
	Archived  bool      `json:"archived"`
	ClaimRef  string    `json:"claim_ref"`
	ClaimedAt time.Time `json:"claimed_at"`
	// Malformed means that a field other than the id has an unexpected type or form. Such
	// fields have their zero value; the sandbox exists.
	Malformed bool `json:"-"`
}

// List returns every sandbox the node holds. An answer without a list, or with a row
// without a readable id, is an error and never a shorter list, because callers take a
// missing id for absent. A row with an id and another unreadable field is listed as
// [Sandbox.Malformed].
func (cl *Client) List(ctx context.Context) ([]Sandbox, error) {
	rows, err := cl.rows(ctx, call{op: "list", method: http.MethodGet, path: "/v1/sandboxes"})
	if err == nil {
		cl.malformed.listed(ctx, rows)
	}
	return rows, err
}

func (cl *Client) rows(ctx context.Context, c call) ([]Sandbox, error) {
	var a struct {
		Sandboxes *[]indexRow `json:"sandboxes"`
	}
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
	return rows, nil
}

// FindByRef returns the sandboxes with exactly this claim_ref; there can be several. A
// row whose claim_ref cannot be read is left out. An empty ref is an error and nothing is
// sent, because sandboxd would answer with every sandbox.
func (cl *Client) FindByRef(ctx context.Context, ref string) ([]Sandbox, error) {
	c := call{op: "find", method: http.MethodGet, path: "/v1/sandboxes", query: url.Values{"claim_ref": {ref}}}
	if ref == "" {
		return nil, &Error{Op: c.op, Class: Invalid, cause: errRef}
	}
	rows, err := cl.rows(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(rows, func(s Sandbox) bool { return s.ClaimRef != ref }), nil
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

// addressable reports whether a path can contain the id as one segment. HTTP clients drop
// or resolve the others, which would name another resource.
func addressable(id string) bool { return id != "" && id != "." && id != ".." }

// sandboxPath is the path of one sandbox. An id that is not addressable is an error.
func sandboxPath(op, id string) (string, error) {
	if !addressable(id) {
		return "", &Error{Op: op, Class: Invalid, cause: errID}
	}
	return "/v1/sandboxes/" + url.PathEscape(id), nil
}

var (
	errID  = errors.New("not a sandbox id")
	errRef = errors.New("no claim_ref")
)
