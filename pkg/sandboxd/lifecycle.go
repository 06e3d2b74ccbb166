// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Hibernate moves the sandbox's memory to disk; its lease continues. It is idempotent. A
// sandbox that cannot hibernate, because it has volumes or is on the egress lane, is an
// error of class [Invalid].
func (cl *Client) Hibernate(ctx context.Context, id string) error {
	return cl.confirm(ctx, "hibernate", id)
}

// Wake loads a hibernated or archived sandbox. It is idempotent. An archived sandbox gets
// a new lease.
func (cl *Client) Wake(ctx context.Context, id string) error {
	return cl.confirm(ctx, "wake", id)
}

// confirm posts to one verb of a sandbox with the node API token. Only the status 204 is
// success.
func (cl *Client) confirm(ctx context.Context, verb, id string) error {
	path, err := sandboxPath(verb, id)
	if err != nil {
		return err
	}
	return cl.do(ctx, call{
		op: verb, method: http.MethodPost, path: path + "/" + verb, timeout: ClaimTimeout, success: http.StatusNoContent,
	}, nil)
}

// Renew requests a lease of ttlSeconds from now, 0 for the node's default. It returns the
// end of the granted lease, which can be sooner. An archived sandbox is an error of class
// [Invalid].
func (cl *Client) Renew(ctx context.Context, id string, ttlSeconds int64) (time.Time, error) {
	const op = "renew"
	path, err := sandboxPath(op, id)
	if err != nil {
		return time.Time{}, err
	}
	body := struct {
		TTLSeconds int64 `json:"ttl_seconds"`
	}{ttlSeconds}
	var a struct {
		Deadline json.RawMessage `json:"deadline"`
	}
	if err := cl.do(ctx, call{op: op, method: http.MethodPost, path: path + "/renew", body: body}, &a); err != nil {
		return time.Time{}, err
	}
	var deadline time.Time
	if !readTime(a.Deadline, &deadline) || deadline.IsZero() {
		return time.Time{}, unreadable(op, http.StatusOK)
	}
	return deadline, nil
}
