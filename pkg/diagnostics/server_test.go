// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// start serves c until the test ends.
func start(t *testing.T, c Config) (base string, stop func()) {
	t.Helper()
	c.Addr = "127.0.0.1:0"
	if c.Metrics == nil {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
	}
	s, err := Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run ended with %v", err)
		}
		done <- nil
	}
	t.Cleanup(stop)
	return "http://" + s.Addr().String(), stop
}

func ask(t *testing.T, method, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestEndpoints(t *testing.T) {
	waiting := Check{"node", func() error { return errors.New("the Node is not registered") }}
	well := Check{"table", func() error { return nil }}
	base, _ := start(t, Config{Ready: []Check{well, waiting}})
	for name, tc := range map[string]struct {
		method, path string
		code         int
		body         string
	}{
		"metrics":           {"GET", "/metrics", 200, "metrics"},
		"alive":             {"GET", "/healthz", 200, "ok"},
		"alive, by HEAD":    {"HEAD", "/healthz", 200, ""},
		"alive, in words":   {"GET", "/healthz?verbose", 200, "[+]ping ok\nhealthz check passed\n"},
		"not ready":         {"GET", "/readyz", 503, "[+]table ok\n[-]node failed: the Node is not registered\nreadyz check failed\n"},
		"one part, well":    {"GET", "/readyz/table", 200, "ok"},
		"one part, verbose": {"GET", "/readyz/table?verbose", 200, "[+]table ok\nreadyz check passed\n"},
		"one part, waiting": {"GET", "/readyz/node", 503, "[-]node failed: the Node is not registered\nreadyz check failed\n"},
		"but for one":       {"GET", "/readyz?exclude=node&verbose", 200, "[+]table ok\nreadyz check passed\n"},
		"unknown part":      {"GET", "/readyz/nothing", 404, "404 page not found\n"},
		"another verb":      {"POST", "/readyz", 405, "Method Not Allowed\n"},
		"no profiles":       {"GET", "/debug/pprof/", 404, "404 page not found\n"},
		"no command line":   {"GET", "/debug/pprof/cmdline", 404, "404 page not found\n"},
		"nothing else":      {"GET", "/", 404, "404 page not found\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, body := ask(t, tc.method, base+tc.path); code != tc.code || body != tc.body {
				t.Errorf("%s %s = %d %q, want %d %q", tc.method, tc.path, code, body, tc.code, tc.body)
			}
		})
	}
}

func TestProfiles(t *testing.T) {
	base, _ := start(t, Config{Profiles: true})
	for path, says := range map[string]string{
		"/debug/pprof/":                  "goroutine",
		"/debug/pprof/goroutine?debug=1": "goroutine profile:",
		"/debug/pprof/symbol":            "num_symbols",
	} {
		if code, body := ask(t, http.MethodGet, base+path); code != http.StatusOK || !strings.Contains(body, says) {
			t.Errorf("%s = %d %q, want %q in it", path, code, body, says)
		}
	}
	if code, _ := ask(t, http.MethodGet, base+"/debug/pprof/cmdline"); code != http.StatusNotFound {
		t.Errorf("the command line is served: %d", code)
	}
}

func TestAddressInUse(t *testing.T) {
	base, _ := start(t, Config{})
	if _, err := Listen(t.Context(), Config{Addr: strings.TrimPrefix(base, "http://")}); err == nil || !strings.Contains(err.Error(), "another daemon") {
		t.Errorf("error = %v, want one that says what uses the address", err)
	}
}

// The successor of a daemon that stops needs the address before the old one's
// last claim has been answered: it is free when Run has returned, and an answer
// under way is finished first.
func TestStop(t *testing.T) {
	asked, finish := make(chan struct{}), make(chan struct{})
	base, stop := start(t, Config{Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-finish
		fmt.Fprint(w, "complete")
	})})
	answered := make(chan string, 1)
	go func() {
		_, body := ask(t, http.MethodGet, base+"/metrics")
		answered <- body
	}()
	<-asked
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	close(finish)
	if body := <-answered; body != "complete" {
		t.Errorf("the answer under way was %q", body)
	}
	<-stopped
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Errorf("the address is still taken: %v", err)
	} else {
		l.Close()
	}
}
