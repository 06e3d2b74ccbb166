// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/httpserver"
)

const requestTimeout = 30 * time.Second

// serve answers the kubelet API on listener until ctx ends, and closes it.
func serve(ctx context.Context, listener net.Listener, pair tls.Certificate, routes http.Handler) error {
	server := &http.Server{
		Handler:      routes,
		TLSConfig:    tlsConfig(pair),
		ReadTimeout:  requestTimeout,
		WriteTimeout: requestTimeout,
		BaseContext:  func(net.Listener) context.Context { return ctx },
	}
	if err := httpserver.Run(ctx, server, listener); err != nil {
		return fmt.Errorf("serve the kubelet API: %w", err)
	}
	return nil
}
