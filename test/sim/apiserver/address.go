// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"sync"
)

// Address is the endpoint at which the daemon reaches its API server. The server
// of another cluster can be put behind it.
type Address struct {
	mu  sync.Mutex
	api *API
}

// NewAddress returns the address of api.
func NewAddress(api *API) *Address { return &Address{api: api} }

// Current returns the API server that answers now.
func (a *Address) Current() *API {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.api
}

// Set replaces the API server that answers.
func (a *Address) Set(api *API) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.api = api
}

// RoundTrip implements [http.RoundTripper].
func (a *Address) RoundTrip(req *http.Request) (*http.Response, error) {
	return a.Current().RoundTrip(req)
}
