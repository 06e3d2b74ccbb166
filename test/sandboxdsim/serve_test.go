// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

// TestRestartDropsSockets uses real connections: one idle, one with the claim that makes the daemon crash.
func TestRestartDropsSockets(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	b.Must(err)
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { served <- b.Serve(ctx, l) }()
	url := "http://" + l.Addr().String()

	var dialer net.Dialer
	idle, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
	b.Must(err)
	defer func() { _ = idle.Close() }()
	_, err = idle.Write([]byte("GET /healthz HTTP/1.1\r\nHost: sim\r\n\r\n"))
	b.Must(err)
	answer := make([]byte, 4096)
	n, err := idle.Read(answer)
	b.Must(err)
	if !strings.Contains(string(answer[:n]), "200 OK") || !strings.HasSuffix(string(answer[:n]), "\r\n\r\nok") {
		t.Fatalf("healthz over a socket: %q", answer[:n])
	}

	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionRestart, Point: fault.PointResponse, Count: 1})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/claim", strings.NewReader(simtest.ClaimBody("a/b")))
	b.Must(err)
	req.Header.Set("Authorization", "Bearer "+simtest.RootToken)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_ = resp.Body.Close()
		t.Errorf("the claim got an answer: %s", resp.Status)
	}
	if _, err := idle.Read(answer); err == nil {
		t.Error("the idle connection is still open")
	}
	req, err = http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", nil)
	b.Must(err)
	resp, err = http.DefaultClient.Do(req)
	b.Must(err)
	b.Must(resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		t.Errorf("after the restart: %s", resp.Status)
	}
	b.WantHistory(b.List("").Sandboxes[0].ID, "made claimed answer-lost")
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}
