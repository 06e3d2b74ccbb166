// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// execute runs the program, and returns what it printed as an error.
func execute(ctx context.Context, args []string, ready func(api []net.Listener, control net.Listener)) error {
	var stderr bytes.Buffer
	command := newCommand(ready) //nolint:contextcheck // Run gives the command its context
	if code := program.Run(ctx, command, args, io.Discard, &stderr); code != program.ExitOK {
		return fmt.Errorf("exit code %d: %s", code, &stderr)
	}
	return nil
}

// simulator is the program while it runs.
type simulator struct {
	*testing.T
	api, control string
	stop         func()
}

func start(t *testing.T, args ...string) simulator {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	up := make(chan simulator, 1)
	args = append([]string{"--listen=127.0.0.1:0", "--control-listen=127.0.0.1:0", "--latency=none", "--v=0"}, args...)
	go func() {
		ended <- execute(ctx, args, func(api []net.Listener, control net.Listener) {
			up <- simulator{api: api[0].Addr().String(), control: "http://" + control.Addr().String()}
		})
	}()
	select {
	case s := <-up:
		s.T = t
		s.stop = func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("run: %v", err)
			}
		}
		return s
	case err := <-ended:
		cancel()
		t.Fatalf("run: %v", err)
	}
	panic("unreachable")
}

func (s simulator) do(method, path, token, body string) (int, string) {
	s.Helper()
	req, err := http.NewRequestWithContext(s.Context(), method, "http://"+s.api+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err := resp.Body.Close(); err != nil {
		s.Error(err)
	}
	if err != nil {
		s.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestTheProgramKeepsItsStateOverARestart(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--state-dir", filepath.Join(dir, "state"), "--pools", "reg:5000/rt:24.04,target=2", "--pools", "other,size=large"}
	s := start(t, args...)
	tokenFile := filepath.Join(dir, "state", "token")
	token, err := readToken(tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(tokenFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info, err)
	}
	status, body := s.do("POST", "/v1/claim", token, `{"template":"reg:5000/rt:24.04","claim_ref":"a/b"}`)
	if status != 200 || !strings.Contains(body, `"owner_addr":"`+s.api+`"`) {
		t.Errorf("claim: %d %s", status, body)
	}
	if status, body := s.do("POST", "/v1/claim", token, `{"template":"unknown"}`); status != 400 {
		t.Errorf("claim of an unknown template: %d %s", status, body)
	}
	s.stop()

	s = start(t, args...)
	defer s.stop()
	if status, body := s.do("GET", "/v1/sandboxes?claim_ref=a/b", token, ""); status != 200 || strings.Count(body, `"id"`) != 1 {
		t.Errorf("list after the restart: %d %s", status, body)
	}
	all, err := control.Client{URL: s.control}.History(t.Context(), history.Filter{Type: history.EventStarted})
	if err != nil || all.Counters.Claimed != 1 || len(all.Events) != 2 {
		t.Errorf("history after the restart: %+v, %v", all, err)
	}
}

func TestTokenFiles(t *testing.T) {
	dir := t.TempDir()
	root, tenant := filepath.Join(dir, "root"), filepath.Join(dir, "tenant")
	for path, text := range map[string]string{root: " root-secret\n", tenant: "tenant-secret"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, "--state-dir", filepath.Join(dir, "state"), "--token-file", root, "--tenant-token-file", tenant)
	defer s.stop()
	for token, want := range map[string]int{"root-secret": 200, "tenant-secret": 403, "guess": 401} {
		if status, body := s.do("GET", "/v1/info", token, ""); status != want {
			t.Errorf("%s: %d %s, want %d", token, status, body, want)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var listen net.ListenConfig
	taken, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for want, args := range map[string][]string{
		"unknown flag":          {"--wat"},
		"unexpected argument":   {"serve"},
		"--pools":               {"--pools=a,size=huge"},
		"configured twice":      {"--pools=a", "--pools=a"},
		"--latency":             {"--latency=some"},
		"unknown redirect":      {"--redirect=maybe"},
		"unknown index":         {"--rebuild=5s", "--rebuild-index=odd"},
		"--refill-interval":     {"--refill-interval=0s"},
		"--state-dir":           {"--state-dir="},
		"--token-file":          {"--token-file=" + empty},
		"--tenant-token-file":   {"--tenant-token-file=" + filepath.Join(dir, "none")},
		"--listen":              {"--listen=" + taken.Addr().String()},
		"--control-listen":      {"--control-listen=" + taken.Addr().String()},
		"--advertise-addr: set": {"--listen=0.0.0.0:0"},
	} {
		t.Run(want, func(t *testing.T) {
			base := []string{"--state-dir=" + t.TempDir(), "--control-listen=127.0.0.1:0"}
			if want != "--listen" && !strings.Contains(want, "--advertise-addr") {
				base = append(base, "--listen=127.0.0.1:0")
			}
			err := execute(t.Context(), append(base, args...), func([]net.Listener, net.Listener) { t.Error("it serves") })
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), newCommand(nil), []string{"--help"}, &stdout, &stderr); code != program.ExitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d, complained %q", code, &stderr)
	}
	for _, want := range []string{"State and token flags:", "--state-dir directory", "-v, --v Level", "(default 1)"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the help text lacks %q:\n%s", want, &stdout)
		}
	}
}

func TestEverythingInvalidIsReportedAtOnce(t *testing.T) {
	err := execute(t.Context(), []string{"--latency=some", "--pools=a,size=huge", "--reap-interval=-1s"}, nil)
	for _, want := range []string{"exit code 2", "--latency", "--pools", "--reap-interval", "sandboxd-sim --help"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %s in it", err, want)
		}
	}
}
