// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Sandboxd is a sandboxd whose requests are measured.
type Sandboxd interface {
	provider.Sandboxd
	// ReleaseByID releases a sandbox with the node API token.
	ReleaseByID(ctx context.Context, id string) error
}

// Sandboxd returns next with its requests counted and measured.
func (m *Metrics) Sandboxd(next Sandboxd) Sandboxd {
	return &countedSandboxd{metrics: m, next: next}
}

type countedSandboxd struct {
	metrics *Metrics
	next    Sandboxd
}

// answered counts one request.
func (s *countedSandboxd) answered(operation string, start time.Time, err error) {
	s.metrics.requestDuration.WithLabelValues(operation).Observe(time.Since(start).Seconds())
	s.metrics.requests.WithLabelValues(operation, resultOf(err)).Inc()
}

// Claim implements [provider.Sandboxd].
func (s *countedSandboxd) Claim(ctx context.Context, req sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	start := time.Now()
	c, err := s.next.Claim(ctx, req)
	s.answered(opClaim, start, err)
	return c, err
}

// Release implements [provider.Sandboxd].
func (s *countedSandboxd) Release(ctx context.Context, id string, token sandboxd.Token) error {
	start := time.Now()
	err := s.next.Release(ctx, id, token)
	s.answered(opRelease, start, err)
	return err
}

// ReleaseByID implements [Sandboxd]; it counts as a release.
func (s *countedSandboxd) ReleaseByID(ctx context.Context, id string) error {
	start := time.Now()
	err := s.next.ReleaseByID(ctx, id)
	s.answered(opRelease, start, err)
	return err
}

// List implements [provider.Sandboxd].
func (s *countedSandboxd) List(ctx context.Context) ([]sandboxd.Sandbox, error) {
	start := time.Now()
	list, err := s.next.List(ctx)
	s.answered(opList, start, err)
	return list, err
}

// Get implements [provider.Sandboxd].
func (s *countedSandboxd) Get(ctx context.Context, id string) (sandboxd.Sandbox, error) {
	start := time.Now()
	one, err := s.next.Get(ctx, id)
	s.answered(opGet, start, err)
	return one, err
}

// Info implements [provider.Sandboxd].
func (s *countedSandboxd) Info(ctx context.Context) (sandboxd.Info, error) {
	start := time.Now()
	info, err := s.next.Info(ctx)
	s.answered(opInfo, start, err)
	return info, err
}
