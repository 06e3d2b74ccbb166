// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package httpserver runs all HTTP servers of this project the same way: with timeouts,
// logged through klog, and stopped by a context.
package httpserver

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

const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 90 * time.Second
	maxHeaderBytes    = 64 << 10
	// shutdownTimeout is how long requests in progress may take once the context
	// has ended.
	shutdownTimeout = 5 * time.Second
)

// Run serves requests on the listener until ctx ends, over TLS if the server has a
// TLSConfig. It then closes the listener at once, and closes connections whose requests
// take longer than five seconds more. It returns nil after such a stop, and otherwise the
// error that ended the server. Run sets a header timeout, an idle timeout, a header size
// and an error log if the server has none; failed handshakes are logged at debug level
// only, because port scanners and probes cause them.
func Run(ctx context.Context, server *http.Server, listener net.Listener) error {
	logger := klog.FromContext(ctx)
	setDefaults(server, logger)
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		grace, done := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer done()
		if err := server.Shutdown(grace); err != nil {
			logger.V(2).Info("HTTP server did not stop in time; closing its connections", "address", listener.Addr(), "err", err)
			_ = server.Close()
		}
	}()
	err := serve(server, listener)
	cancel()
	<-stopped
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func setDefaults(server *http.Server, logger klog.Logger) {
	if server.ReadHeaderTimeout == 0 {
		server.ReadHeaderTimeout = readHeaderTimeout
	}
	if server.IdleTimeout == 0 {
		server.IdleTimeout = idleTimeout
	}
	if server.MaxHeaderBytes == 0 {
		server.MaxHeaderBytes = maxHeaderBytes
	}
	if server.ErrorLog == nil {
		server.ErrorLog = slog.NewLogLogger(logr.ToSlogHandler(logger), slog.LevelDebug)
	}
}

func serve(server *http.Server, listener net.Listener) error {
	if server.TLSConfig != nil {
		return server.ServeTLS(listener, "", "")
	}
	return server.Serve(listener)
}
