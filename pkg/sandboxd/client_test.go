// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// A redirect is never followed: it would carry the bearer token, or a claim,
// to an address that sandboxd's answer chose.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("followed to %s with Authorization %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, status := range []int{300, 301, 302, 303, 304, 307, 308} {
		for name, location := range map[string]string{"other host": elsewhere.URL + "/v1/sandboxes", "same host": "/v1/elsewhere"} {
			asked := 0
			cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				w.Header().Set("Location", location)
				w.WriteHeader(status)
			})
			for _, o := range operations {
				t.Run(fmt.Sprint(o.op, " ", status, " ", name), func(t *testing.T) {
					asked = 0
					wantClass(t, o.call(t.Context(), cl), sandboxd.Unavailable)
					if asked != 1 {
						t.Errorf("%d requests, want 1", asked)
					}
				})
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for _, c := range []struct {
		name, header string
		want         time.Duration
	}{
		{"absent", "", 0},
		{"seconds", "30", 30 * time.Second},
		{"zero", "0", 0},
		{"negative", "-5", 0},
		{"a date", "Fri, 31 Dec 2038 23:59:59 GMT", 0},
		{"fraction", "1.5", 0},
		{"unit", "30s", 0},
		{"at the bound", "300", 5 * time.Minute},
		{"over the bound", "301", 5 * time.Minute},
		{"a week", "604800", 5 * time.Minute},
		{"would overflow a Duration", "9223372036854775807", 5 * time.Minute},
		{"would overflow an integer", "92233720368547758070", 0},
		{"text", "soon", 0},
	} {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			t.Run(fmt.Sprint(c.name, " ", status), func(t *testing.T) {
				cl := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					if c.header != "" {
						w.Header().Set("Retry-After", c.header)
					}
					w.WriteHeader(status)
				})
				_, err := cl.Claim(t.Context(), sandboxd.ClaimRequest{Template: "rt:24.04"})
				waits, ok := err.(interface{ RetryAfter() time.Duration })
				if !ok || waits.RetryAfter() != c.want {
					t.Errorf("error %v, wait %v; want %v", err, waits, c.want)
				}
			})
		}
	}
}

func TestNewClientChecksTheURL(t *testing.T) {
	for _, good := range []string{"http://127.0.0.1:7777", "https://host-07", "http://[::1]:7777", "http://127.0.0.1:7777/", "http://127.0.0.1/sandboxd"} {
		if _, err := sandboxd.NewClient(sandboxd.Config{URL: good}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for name, bad := range map[string]string{
		"empty": "", "no scheme": "127.0.0.1:7777", "no host": "http://", "other scheme": "unix:///run/sandboxd.sock",
		"bad port": "http://127.0.0.1:port", "control character": "http://127.0.0.1\n:7777",
	} {
		if _, err := sandboxd.NewClient(sandboxd.Config{URL: bad}); err == nil {
			t.Errorf("%s: %q is accepted", name, bad)
		}
	}
}

func TestBasePathIsKept(t *testing.T) {
	for _, suffix := range []string{"/sandboxd", "/sandboxd/"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/sandboxd/v1/sandboxes" {
				t.Errorf("path %s", r.URL.Path)
			}
			_, _ = w.Write([]byte(`{"sandboxes":[]}`))
		}))
		defer s.Close()
		if _, err := newClient(t, sandboxd.Config{URL: s.URL + suffix}).List(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
