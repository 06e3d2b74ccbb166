// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"context"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/httpserver"
)

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
	return httpserver.Run(klog.NewContext(ctx, logger), &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return klog.NewContext(context.Background(), logger) },
	}, l)
}
