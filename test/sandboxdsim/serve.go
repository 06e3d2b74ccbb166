// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/httpserver"
)

// Serve answers the sandboxd API on a listener until the context ends; requests in flight may finish within
// five seconds. A restart drops the connections it has accepted.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, &http.Server{Handler: s.Handler(), ConnState: s.conns.track, ReadHeaderTimeout: headerTimeout})
}

// ServeControl answers with another handler, whose connections outlive a restart.
func (s *Server) ServeControl(ctx context.Context, l net.Listener, control http.Handler) error {
	return s.serve(ctx, l, &http.Server{Handler: control, ReadHeaderTimeout: headerTimeout})
}

const headerTimeout = 10 * time.Second

func (s *Server) serve(ctx context.Context, l net.Listener, web *http.Server) error {
	logger := s.config.Logger
	web.BaseContext = func(net.Listener) context.Context { return klog.NewContext(context.Background(), logger) }
	return httpserver.Run(klog.NewContext(ctx, logger), web, l)
}

// connections are the open ones, so that a restart can drop them.
type connections struct {
	mu   sync.Mutex
	open map[net.Conn]bool
}

// track follows the state of a connection for [http.Server].
func (c *connections) track(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.open == nil {
			c.open = map[net.Conn]bool{}
		}
		c.open[conn] = true
	case http.StateClosed:
		delete(c.open, conn)
	}
}

func (c *connections) drop() {
	c.mu.Lock()
	open := slices.Collect(maps.Keys(c.open))
	c.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close() // it is dropped either way
	}
}
