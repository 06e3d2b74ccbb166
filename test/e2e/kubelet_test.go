// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// TestKubeletAPI connects to the daemon's port as any client on the network can.
func TestKubeletAPI(t *testing.T) {
	t.Parallel()
	address := net.JoinHostPort(shared.info.Hosts[0].IP, strconv.Itoa(kubeletPort))
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is self-signed
	}}
	for path, want := range map[string]int{
		"/pods":                     http.StatusNotFound,
		"/pods/":                    http.StatusNotFound,
		"/runningpods":              http.StatusNotFound,
		"/runningpods/":             http.StatusNotFound,
		"/containerLogs/ns/pod/c":   http.StatusNotImplemented,
		"/exec/ns/pod/c?command=sh": http.StatusNotImplemented,
		"/stats/summary":            http.StatusOK,
		"/metrics":                  http.StatusNotFound,
		"/healthz":                  http.StatusNotFound,
	} {
		t.Run(path, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil {
				t.Error(err)
			}
			if answer.StatusCode != want {
				t.Errorf("status %d, want %d", answer.StatusCode, want)
			}
		})
	}
	t.Run("old TLS", func(t *testing.T) {
		old := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11} //nolint:gosec // what is to be refused
		dialer := &tls.Dialer{Config: old}
		connection, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			t.Errorf("TLS 1.1 was accepted: %v", connection.Close())
		} else if !strings.Contains(err.Error(), "protocol version") {
			t.Errorf("refused for another reason: %v", err)
		}
	})
}

// TestLogsAndExec checks that the API server reaches the daemon, and that kubectl shows
// the reason for the refusal.
func TestLogsAndExec(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.run(newPod("bare"))
	for _, args := range [][]string{
		{"logs", "bare"},
		{"exec", "bare", "--", "true"},
	} {
		t.Run(args[0], func(t *testing.T) {
			out, err := f.kubectl(t.Context(), append([]string{"--namespace=" + f.namespace}, args...)...)
			if text := fmt.Sprint(out, err); err == nil || !strings.Contains(text, "not implemented") {
				t.Errorf("kubectl %s prints %q, want that it is not implemented", args[0], text)
			}
		})
	}
}
