// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// Client calls the control API of a simulator.
type Client struct {
	// URL is the base, such as http://127.0.0.1:7778.
	URL string
	// HTTP does the requests. Default http.DefaultClient.
	HTTP *http.Client
}

// History returns what really happened and what is alive.
func (c Client) History(ctx context.Context, f history.Filter) (all history.History, err error) {
	q := url.Values{
		"sandbox": {f.Sandbox}, "claim_ref": {f.ClaimRef}, "type": {string(f.Type)},
		"after": {strconv.FormatInt(f.After, 10)},
	}
	err = c.do(ctx, http.MethodGet, "/history?"+q.Encode(), nil, &all)
	return all, err
}

// Requests returns what the daemon was asked.
func (c Client) Requests(ctx context.Context, f history.RequestFilter) (l history.RequestLog, err error) {
	q := url.Values{"endpoint": {f.Endpoint}, "after": {strconv.FormatInt(f.After, 10)}}
	err = c.do(ctx, http.MethodGet, "/requests?"+q.Encode(), nil, &l)
	return l, err
}

// AddFault puts a fault in force and returns its id.
func (c Client) AddFault(ctx context.Context, f fault.Fault) (int, error) {
	var added struct {
		ID int `json:"id"`
	}
	err := c.do(ctx, http.MethodPost, "/faults", f, &added)
	return added.ID, err
}

// RemoveFault ends a fault; a fault that is not in force is an error.
func (c Client) RemoveFault(ctx context.Context, id int) error {
	return c.do(ctx, http.MethodDelete, "/faults/"+strconv.Itoa(id), nil, nil)
}

// ClearFaults ends every fault.
func (c Client) ClearFaults(ctx context.Context) error {
	return c.do(ctx, http.MethodDelete, "/faults", nil, nil)
}

// Capacity returns the settings that can be changed.
func (c Client) Capacity(ctx context.Context) (now host.Capacity, err error) {
	err = c.do(ctx, http.MethodGet, "/capacity", nil, &now)
	return now, err
}

// SetCapacity changes the settings that are not nil.
func (c Client) SetCapacity(ctx context.Context, change host.Capacity) error {
	return c.do(ctx, http.MethodPost, "/capacity", change, nil)
}

// SetPools replaces the whole set of pools, as PUT /v1/pools of the sandboxd API does.
func (c Client) SetPools(ctx context.Context, set []config.Pool) error {
	return c.do(ctx, http.MethodPut, "/pools", set, nil)
}

// Token returns the token of a claimed sandbox.
func (c Client) Token(ctx context.Context, id string) (string, error) {
	var held struct {
		Token string `json:"token"`
	}
	err := c.do(ctx, http.MethodGet, "/sandboxes/"+url.PathEscape(id)+"/token", nil, &held)
	return held.Token, err
}

func (c Client) do(ctx context.Context, method, path string, in, out any) error {
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
