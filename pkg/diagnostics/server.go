// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

const (
	readTimeout     = 10 * time.Second
	writeTimeout    = 30 * time.Second // a profile has its own length on top
	idleTimeout     = 90 * time.Second
	maxHeaderBytes  = 16 << 10
	shutdownTimeout = 5 * time.Second
)

// Config says what a [Server] serves.
type Config struct {
	// Addr is the [host]:port to listen on. Required.
	Addr string
	// Metrics answers /metrics. Required.
	Metrics http.Handler
	// Ready are the checks of /readyz. /healthz has none but that the server
	// answers: restarting the daemon would mend nothing that it could find.
	Ready []Check
	// Profiles adds /debug/pprof/.
	Profiles bool
}

// Server is a server that listens.
type Server struct {
	listener net.Listener
	routes   http.Handler
}

// Listen takes the address. Requests are answered from [Server.Run] on.
func Listen(ctx context.Context, c Config) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("listen for metrics and health; does another daemon on this host use the address? %w", err)
	}
	klog.FromContext(ctx).Info("Metrics and health are served", "address", listener.Addr(), "profiles", c.Profiles)
	return &Server{listener: listener, routes: routes(c)}, nil
}

// Addr is the address that was taken.
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

// Run answers requests until ctx ends, and then lets go of the address at
// once and waits for the answers under way, but not for long.
func (s *Server) Run(ctx context.Context) error {
	logger := klog.FromContext(ctx)
	server := &http.Server{
		Handler:           s.routes,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(logger), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			// A profile under way may take as long as it was asked to.
			_ = server.Close()
		}
	}()
	err := server.Serve(s.listener)
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve metrics and health: %w", err)
}
