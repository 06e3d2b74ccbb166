// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/sim/model"
)

// answers sits between the daemon and sandboxd. It reports each claim and release to
// the model, and records the credential in each claim's answer.
type answers struct {
	leaks *model.Leaks
	model *model.Model
	next  http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	switch {
	case strings.HasSuffix(req.URL.Path, "/release"):
		a.model.Requested("a release")
	case strings.HasSuffix(req.URL.Path, "/v1/claim"):
		return a.claim(req)
	}
	return a.next.RoundTrip(req)
}

func (a *answers) claim(req *http.Request) (*http.Response, error) {
	sent, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(sent))
	var asked struct {
		ClaimRef string `json:"claim_ref"`
	}
	if err := json.Unmarshal(sent, &asked); err != nil {
		return nil, err
	}
	since := time.Now()
	a.model.Requested("a claim")
	pod := a.model.ClaimRequested(asked.ClaimRef)
	resp, err := a.next.RoundTrip(req)
	if err != nil {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var claim struct {
		ID, Token string
		OwnerAddr string `json:"owner_addr"`
	}
	if err == nil && json.Unmarshal(body, &claim) == nil && claim.ID != "" && claim.Token != "" {
		a.leaks.HandedOut(claim.ID, claim.Token)
		if host, _, err := net.SplitHostPort(claim.OwnerAddr); err != nil || !model.IsPodIP(host) {
			a.model.AddressUnusable(claim.ID, asked.ClaimRef, pod, since)
		}
	}
	return resp, err
}
