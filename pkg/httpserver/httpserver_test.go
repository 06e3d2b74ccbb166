// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package httpserver

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
)

// run starts a server whose requests take as long as handle does, and returns a client
// of it and how it ended.
func run(ctx context.Context, t *testing.T, handle http.HandlerFunc) (*http.Client, chan error) {
	t.Helper()
	listener := pipes{connections: make(chan net.Conn), closed: make(chan struct{})}
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		listener.connections <- server
		return client, nil
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, &http.Server{Handler: handle, ReadHeaderTimeout: time.Second}, listener) }()
	return client, ended
}

func TestARequestInProgressIsFinished(t *testing.T) {
	for name, tc := range map[string]struct {
		takes time.Duration
		ok    bool
	}{
		"in time":  {shutdownTimeout - time.Second, true},
		"too slow": {shutdownTimeout + time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				client, ended := run(ctx, t, func(w http.ResponseWriter, r *http.Request) { sleep(r.Context(), tc.takes) })
				answered := make(chan error, 1)
				go func() {
					resp, err := client.Get("http://server/")
					if err == nil {
						_ = resp.Body.Close()
					}
					answered <- err
				}()
				time.Sleep(time.Second)
				stop()
				if err := <-answered; (err == nil) != tc.ok {
					t.Errorf("the request ended with %v", err)
				}
				if err := <-ended; err != nil {
					t.Errorf("the server ended with %v", err)
				}
			})
		})
	}
}

// pipes is a listener in memory, which virtual time knows.
type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error { close(p.closed); return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// A listener that fails ends the server with its error.
func TestAListenerThatFails(t *testing.T) {
	broken := errors.New("broken")
	if err := Run(t.Context(), &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}, failing{broken}); !errors.Is(err, broken) {
		t.Errorf("ended with %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Accept() (net.Conn, error) { return nil, f.err }
func (failing) Close() error                { return nil }
func (failing) Addr() net.Addr              { return &net.TCPAddr{} }

// What the server sets is kept.
func TestDefaults(t *testing.T) {
	server := &http.Server{ReadHeaderTimeout: time.Second, IdleTimeout: time.Second, MaxHeaderBytes: 1}
	setDefaults(server, klog.Background())
	if server.ReadHeaderTimeout != time.Second || server.IdleTimeout != time.Second || server.MaxHeaderBytes != 1 || server.ErrorLog == nil {
		t.Errorf("changed to %+v", server)
	}
	server = new(http.Server)
	setDefaults(server, klog.Background())
	if server.ReadHeaderTimeout != readHeaderTimeout || server.IdleTimeout != idleTimeout || server.MaxHeaderBytes != maxHeaderBytes {
		t.Errorf("without bounds: %+v", server)
	}
}
