// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"time"
)

// API is the part of a [Client] whose requests are measured.
type API interface {
	Claim(ctx context.Context, req ClaimRequest) (Claim, error)
	Release(ctx context.Context, id string, token Token) error
	ReleaseByID(ctx context.Context, id string) error
	List(ctx context.Context) ([]Sandbox, error)
	Get(ctx context.Context, id string) (Sandbox, error)
	Info(ctx context.Context) (Info, error)
}

// Measure returns next with its requests counted and measured.
func (m *Metrics) Measure(next API) API { return &measured{metrics: m, next: next} }

type measured struct {
	metrics *Metrics
	next    API
}

// Claim implements [API].
func (s *measured) Claim(ctx context.Context, req ClaimRequest) (Claim, error) {
	start := time.Now()
	c, err := s.next.Claim(ctx, req)
	s.metrics.observe(operationClaim, start, err)
	return c, err
}

// Release implements [API].
func (s *measured) Release(ctx context.Context, id string, token Token) error {
	start := time.Now()
	err := s.next.Release(ctx, id, token)
	s.metrics.observe(operationRelease, start, err)
	return err
}

// ReleaseByID implements [API]; it counts as a release.
func (s *measured) ReleaseByID(ctx context.Context, id string) error {
	start := time.Now()
	err := s.next.ReleaseByID(ctx, id)
	s.metrics.observe(operationRelease, start, err)
	return err
}

// List implements [API].
func (s *measured) List(ctx context.Context) ([]Sandbox, error) {
	start := time.Now()
	list, err := s.next.List(ctx)
	s.metrics.observe(operationList, start, err)
	return list, err
}

// Get implements [API].
func (s *measured) Get(ctx context.Context, id string) (Sandbox, error) {
	start := time.Now()
	one, err := s.next.Get(ctx, id)
	s.metrics.observe(operationGet, start, err)
	return one, err
}

// Info implements [API].
func (s *measured) Info(ctx context.Context) (Info, error) {
	start := time.Now()
	info, err := s.next.Info(ctx)
	s.metrics.observe(operationInfo, start, err)
	return info, err
}
