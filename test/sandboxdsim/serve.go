// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// stopGrace is how long requests have to finish when a server is told to stop.
const stopGrace = 5 * time.Second

// Serve answers the sandboxd API on a listener until the context ends; requests in flight may finish within
// five seconds. A restart drops the connections it has accepted.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, s.conns.track(l), s.Handler())
}

// ServeControl does the same for the control API, whose connections outlive a restart.
func (s *Server) ServeControl(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.ControlHandler())
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	logger := s.env.cfg.Logger
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return klog.NewContext(context.Background(), logger) },
		ErrorLog:          slog.NewLogLogger(logr.ToSlogHandler(logger), slog.LevelDebug),
	}
	ctx, cancel := context.WithCancel(ctx)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		<-ctx.Done()
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer done()
		if srv.Shutdown(grace) != nil {
			_ = srv.Close() // what still hangs is cut off
		}
	}()
	err := srv.Serve(l)
	cancel()
	<-finished
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
