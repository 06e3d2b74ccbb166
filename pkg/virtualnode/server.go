// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"crypto/tls"
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
	readHeaderTimeout = 10 * time.Second
	requestTimeout    = 30 * time.Second
	idleTimeout       = 90 * time.Second
	shutdownTimeout   = 5 * time.Second
)

// serve answers the kubelet API on listener until ctx ends, and closes it.
func serve(ctx context.Context, listener net.Listener, pair tls.Certificate, routes http.Handler) error {
	logger := klog.FromContext(ctx)
	server := &http.Server{
		Handler:           routes,
		TLSConfig:         tlsConfig(pair),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       requestTimeout,
		WriteTimeout:      requestTimeout,
		IdleTimeout:       idleTimeout,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		// Failed handshakes of port scanners and probes are for debugging.
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(logger), slog.LevelDebug),
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		if err := server.Shutdown(grace); err != nil {
			logger.Error(err, "Kubelet API did not stop in time, closing it")
			_ = server.Close()
		}
	}()
	err := server.ServeTLS(listener, "", "")
	if errors.Is(err, http.ErrServerClosed) {
		<-stopped
		return nil
	}
	return fmt.Errorf("serve the kubelet API: %w", err)
}
