// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// ForkRequest requests copies of a running sandbox.
type ForkRequest struct {
	// Count is the number of copies. sandboxd makes all of them or none.
	Count int `json:"count"`
	// TTLSeconds is the copies' lease in seconds; 0 means sandboxd's default.
	TTLSeconds int64 `json:"ttl_seconds"`
	// ClaimRefPrefix and the id of each copy together are the copy's claim_ref.
	ClaimRefPrefix string `json:"claim_ref_prefix,omitempty"`
}

// Fork copies a sandbox. Delivered copies are returned even with an error. An answer with
// fewer copies than requested, or with a copy that lacks an id or a usable token, is an
// error of class [Unavailable]; the caller must release the delivered copies. After an
// error of class [Unreachable] the outcome is unknown; the copies, if any, are found by
// their claim_ref.
func (cl *Client) Fork(ctx context.Context, id string, req ForkRequest) ([]Claim, error) {
	const op = "fork"
	path, err := sandboxPath(op, id)
	if err != nil {
		return nil, err
	}
	var a struct {
		Children []claimAnswer `json:"children"`
	}
	err = cl.do(ctx, call{op: op, method: http.MethodPost, path: path + "/fork", body: req, timeout: ClaimTimeout}, &a)
	var copies []Claim
	for _, child := range a.Children {
		if c, ok := child.claim(); ok {
			copies = append(copies, c)
		}
	}
	if err == nil && len(copies) != req.Count {
		err = unreadable(op, http.StatusOK)
	}
	return copies, err
}

// Checkpoint is a stored copy of a sandbox, which later sandboxes can start from.
type Checkpoint struct {
	ID        string
	Name      string
	SandboxID string
	Key       Key
	// CreatedAt is in UTC; zero when it cannot be read.
	CreatedAt time.Time
}

// Checkpoint stores a copy of the sandbox under a name. An error of class [Invalid] means
// that sandboxd refuses the name or the sandbox.
func (cl *Client) Checkpoint(ctx context.Context, id, name string) (Checkpoint, error) {
	const op = "checkpoint"
	path, err := sandboxPath(op, id)
	if err != nil {
		return Checkpoint{}, err
	}
	body := struct {
		Name string `json:"name"`
	}{name}
	var a struct {
		Checkpoint struct {
			ID        string          `json:"id"`
			Name      json.RawMessage `json:"name"`
			SandboxID json.RawMessage `json:"sandbox_id"`
			Key       json.RawMessage `json:"key"`
			CreatedAt json.RawMessage `json:"created_at"`
		} `json:"checkpoint"`
	}
	err = cl.do(ctx, call{op: op, method: http.MethodPost, path: path + "/checkpoint", body: body, timeout: ClaimTimeout}, &a)
	if err != nil {
		return Checkpoint{}, err
	}
	if a.Checkpoint.ID == "" {
		return Checkpoint{}, unreadable(op, http.StatusOK)
	}
	// Only the id is needed to use the checkpoint. Other fields that cannot be read stay
	// empty.
	c := Checkpoint{ID: a.Checkpoint.ID}
	readField(a.Checkpoint.Name, &c.Name)
	readField(a.Checkpoint.SandboxID, &c.SandboxID)
	readField(a.Checkpoint.Key, &c.Key)
	readTime(a.Checkpoint.CreatedAt, &c.CreatedAt)
	return c, nil
}
