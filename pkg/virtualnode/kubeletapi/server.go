// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/httpserver"
)

const requestTimeout = 30 * time.Second

// Config configures a [Server].
type Config struct {
	// ListenAddr is the address to listen on. Port 0 takes a free one.
	ListenAddr string
	// CertFile and KeyFile name the serving certificate. If one of them is not set or not
	// a regular file, a self-signed certificate is generated.
	CertFile, KeyFile string
	// NodeName and NodeIP are the subjects of a self-signed certificate. NodeIP may be
	// nil.
	NodeName string
	NodeIP   net.IP
}

// AddressError means that the server cannot listen on its address.
type AddressError struct{ Err error }

// Error implements error.
func (e *AddressError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *AddressError) Unwrap() error { return e.Err }

// Server is a kubelet API with an open listener.
type Server struct {
	listener net.Listener
	pair     tls.Certificate
}

// Listen loads or generates the certificate and opens the listener. Requests are answered
// once [Server.Run] is called. Files that are no key pair are a [CertificateError]; an
// unusable address is an [AddressError].
func Listen(ctx context.Context, c Config) (*Server, error) {
	pair, err := certificate(ctx, c)
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.ListenAddr)
	if err != nil {
		return nil, &AddressError{fmt.Errorf("listen for the kubelet API; is another virtual node using the address? %w", err)}
	}
	klog.FromContext(ctx).Info("Kubelet API is listening", "address", listener.Addr())
	return &Server{listener, pair}, nil
}

// Port is the listener's port.
func (s *Server) Port() int32 { return int32(s.listener.Addr().(*net.TCPAddr).Port) }

// Run answers requests until ctx ends, and then closes the listener.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{
		Handler:      newRoutes(),
		TLSConfig:    tlsConfig(s.pair),
		ReadTimeout:  requestTimeout,
		WriteTimeout: requestTimeout,
		BaseContext:  func(net.Listener) context.Context { return ctx },
	}
	if err := httpserver.Run(ctx, server, s.listener); err != nil {
		return fmt.Errorf("serve the kubelet API: %w", err)
	}
	return nil
}
