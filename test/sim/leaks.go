// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// leaks knows every credential that was handed out and looks for them in what
// leaves the daemon.
type leaks struct {
	mu     sync.Mutex
	tokens map[string]string // by sandbox id
	found  []string
}

// look searches text for credentials.
func (l *leaks) look(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if bytes.Contains(text, []byte(rootToken)) {
		l.found = append(l.found, string(text))
	}
	for _, token := range l.tokens {
		if bytes.Contains(text, []byte(token)) {
			l.found = append(l.found, string(text))
		}
	}
}

// delivered returns the sandboxes whose credentials reached the daemon.
func (l *leaks) delivered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for id := range l.tokens {
		out = append(out, id)
	}
	return out
}

// answers takes note of the credential in each claim's answer.
type answers struct {
	leak *leaks
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (a *answers) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := a.next.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, "/v1/claim") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(body))
	var claim struct{ ID, Token string }
	if err == nil && json.Unmarshal(body, &claim) == nil && claim.ID != "" && claim.Token != "" {
		a.leak.mu.Lock()
		if a.leak.tokens == nil {
			a.leak.tokens = map[string]string{}
		}
		a.leak.tokens[claim.ID] = claim.Token
		a.leak.mu.Unlock()
	}
	return resp, err
}

// lockedWriter lets loggers share a buffer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}
