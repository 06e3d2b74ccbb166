// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scrape reads metrics as Prometheus does.
package scrape

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Scrape is what Prometheus reads.
type Scrape struct {
	Text string
	// Series has the value by series, and Types the type by name.
	Series, Types map[string]string
}

// Read reads the metrics that a handler serves.
func Read(t *testing.T, handler http.Handler) Scrape {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	s := Scrape{Text: w.Body.String(), Series: map[string]string{}, Types: map[string]string{}}
	for line := range strings.Lines(s.Text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			s.Types[name] = kind
		} else if series, value, ok := strings.Cut(line, "} "); ok {
			s.Series[series+"}"] = value
		} else if series, value, ok := strings.Cut(line, " "); ok {
			s.Series[series] = value
		}
	}
	return s
}

// Want checks values by series, whose names are given without vk_sandbox_.
func (s Scrape) Want(t *testing.T, values map[string]string) {
	t.Helper()
	for series, want := range values {
		if got, ok := s.Series["vk_sandbox_"+series]; !ok || got != want {
			t.Errorf("%s = %q, want %s", series, got, want)
		}
	}
}
