// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Sandboxd returns next with its requests counted and measured.
func (m *Metrics) Sandboxd(next provider.Sandboxd) provider.Sandboxd {
	return &countedSandboxd{metrics: m, next: next}
}

type countedSandboxd struct {
	metrics *Metrics
	next    provider.Sandboxd
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

// ReleaseByID passes a release with the node API token on, and counts it as a
// release. It fails, with nothing counted, where next has no such call.
func (s *countedSandboxd) ReleaseByID(ctx context.Context, id string) error {
	next, ok := s.next.(interface {
		ReleaseByID(ctx context.Context, id string) error
	})
	if !ok {
		return errNoReleaseByID
	}
	start := time.Now()
	err := next.ReleaseByID(ctx, id)
	s.answered(opRelease, start, err)
	return err
}

var errNoReleaseByID = errors.New("this sandboxd client cannot release by id")

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
