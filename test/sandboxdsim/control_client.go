// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// ControlClient calls the control API of a simulator; its verbs are those of [Server].
type ControlClient struct {
	// URL is the base, such as http://127.0.0.1:7778.
	URL string
	// HTTP does the requests. Default http.DefaultClient.
	HTTP *http.Client
}

// Truth is [Server.Truth].
func (c ControlClient) Truth(ctx context.Context, f EventFilter) (t Truth, err error) {
	q := url.Values{
		"sandbox": {f.Sandbox}, "claim_ref": {f.ClaimRef}, "type": {string(f.Type)},
		"after": {strconv.FormatInt(f.After, 10)},
	}
	err = c.do(ctx, http.MethodGet, "/truth?"+q.Encode(), nil, &t)
	return t, err
}

// Requests is [Server.Requests].
func (c ControlClient) Requests(ctx context.Context, f RequestFilter) (l RequestLog, err error) {
	q := url.Values{"endpoint": {f.Endpoint}, "after": {strconv.FormatInt(f.After, 10)}}
	err = c.do(ctx, http.MethodGet, "/requests?"+q.Encode(), nil, &l)
	return l, err
}

// AddFault is [Server.AddFault].
func (c ControlClient) AddFault(ctx context.Context, f Fault) (int, error) {
	var added struct {
		ID int `json:"id"`
	}
	err := c.do(ctx, http.MethodPost, "/faults", f, &added)
	return added.ID, err
}

// Faults is [Server.Faults].
func (c ControlClient) Faults(ctx context.Context) (list []Fault, err error) {
	err = c.do(ctx, http.MethodGet, "/faults", nil, &list)
	return list, err
}

// RemoveFault is [Server.RemoveFault]; a fault that is not in force is an error.
func (c ControlClient) RemoveFault(ctx context.Context, id int) error {
	return c.do(ctx, http.MethodDelete, "/faults/"+strconv.Itoa(id), nil, nil)
}

// ClearFaults is [Server.ClearFaults].
func (c ControlClient) ClearFaults(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Capacity is [Server.Capacity].
func (c ControlClient) Capacity(ctx context.Context) (now Capacity, err error) {
	err = c.do(ctx, http.MethodGet, "/capacity", nil, &now)
	return now, err
}

// SetCapacity is [Server.SetCapacity].
func (c ControlClient) SetCapacity(ctx context.Context, change Capacity) error {
	return c.do(ctx, http.MethodPost, "/capacity", change, nil)
}

// Restart is [Server.Restart].
func (c ControlClient) Restart(ctx context.Context, o RestartOptions) error {
	return c.do(ctx, http.MethodPost, "/restart", o, nil)
}

// Token is [Server.Token].
func (c ControlClient) Token(ctx context.Context, id string) (string, error) {
	var held struct {
		Token string `json:"token"`
	}
	err := c.do(ctx, http.MethodGet, sandboxPath(id, "token"), nil, &held)
	return held.Token, err
}

// Hibernate is [Server.Hibernate].
func (c ControlClient) Hibernate(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "hibernate"), nil, nil)
}

// Archive is [Server.Archive].
func (c ControlClient) Archive(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "archive"), nil, nil)
}

// Wake is [Server.Wake].
func (c ControlClient) Wake(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "wake"), nil, nil)
}

// Expire is [Server.Expire].
func (c ControlClient) Expire(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "expire"), nil, nil)
}

// Lose is [Server.Lose].
func (c ControlClient) Lose(ctx context.Context, id string) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "lose"), nil, nil)
}

// MoveLease is [Server.MoveLease], by the simulator's clock.
func (c ControlClient) MoveLease(ctx context.Context, id string, to Lease) error {
	return c.do(ctx, http.MethodPost, sandboxPath(id, "lease"), to, nil)
}

func sandboxPath(id, verb string) string { return "/sandboxes/" + url.PathEscape(id) + "/" + verb }

func (c ControlClient) do(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, &body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
