// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/httpserver"
)

const (
	readTimeout    = 10 * time.Second
	writeTimeout   = 30 * time.Second // a profile adds its own duration
	maxHeaderBytes = 16 << 10
)

// Config configures a [Server].
type Config struct {
	// Addr is the [host]:port to listen on. Required.
	Addr string
	// Metrics answers /metrics. Required.
	Metrics http.Handler
	// Ready are the checks of /readyz. /healthz only shows that the server answers:
	// restarting the daemon would repair nothing that a check could find.
	Ready []Check
	// Profiles adds /debug/pprof/.
	Profiles bool
}

// Server is a server with an open listener.
type Server struct {
	listener net.Listener
	routes   http.Handler
}

// Listen opens the listener. Requests are answered once [Server.Run] is called.
func Listen(ctx context.Context, c Config) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics and health; does another daemon on this host use the address? %w", err)
	}
	klog.FromContext(ctx).Info("Metrics and health are served", "address", listener.Addr(), "profiles", c.Profiles)
	return &Server{listener: listener, routes: routes(c)}, nil
}

// Addr is the listener's address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

func routes(c Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", c.Metrics)
	checks{"healthz", []Check{{"ping", func() error { return nil }}}}.register(mux)
	checks{"readyz", c.Ready}.register(mux)
	if c.Profiles {
		registerProfiles(mux)
	}
	return mux
}

// Run answers requests until ctx ends, and then closes the listener at once. Requests in
// progress may take a few seconds more.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:        s.routes,
		ReadTimeout:    readTimeout,
		WriteTimeout:   writeTimeout,
		MaxHeaderBytes: maxHeaderBytes,
	}
	if err := httpserver.Run(ctx, server, s.listener); err != nil {
		return fmt.Errorf("serve metrics and health: %w", err)
	}
	return nil
}
