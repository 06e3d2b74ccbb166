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

// Config says where and as whom a [Server] answers.
type Config struct {
	// ListenAddr is the address to listen on. Port 0 takes a free one.
	ListenAddr string
	// CertFile and KeyFile name the serving certificate. If they are not both set, or
	// one of them is not a regular file, a certificate is made that is signed by itself.
	CertFile, KeyFile string
	// NodeName and NodeIP are what that certificate is for. NodeIP may be nil.
	NodeName string
	NodeIP   net.IP
}

// AddressError says that the address cannot be listened on.
type AddressError struct{ Err error }

// Error implements error.
func (e *AddressError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *AddressError) Unwrap() error { return e.Err }

// Server is a kubelet API that listens.
type Server struct {
	listener net.Listener
	pair     tls.Certificate
}

// Listen loads or makes the certificate and takes the address. Requests are answered from
// [Server.Run] on. Files that are no key pair are a [CertificateError], and an address that
// cannot be taken is an [AddressError].
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

// Port is the port that was taken.
func (s *Server) Port() int32 { return int32(s.listener.Addr().(*net.TCPAddr).Port) }

// Run answers requests until ctx ends, and then closes the address.
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
