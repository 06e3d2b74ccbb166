// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"errors"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
)

// Operations, as label values.
const (
	operationClaim   = "claim"
	operationRelease = "release"
	operationList    = "list"
	operationGet     = "get"
	operationInfo    = "info"
)

func operations() []string {
	return []string{operationClaim, operationRelease, operationList, operationGet, operationInfo}
}

const (
	resultNoCapacity   = "no_capacity"
	resultInvalid      = "invalid"
	resultUnauthorized = "unauthorized"
	resultNotFound     = "not_found"
	resultUnavailable  = "unavailable"
	resultUnreachable  = "unreachable"
	resultCanceled     = "canceled"
)

// Results returns the possible values of [Result].
func Results() []string {
	return []string{
		metrics.Success, resultNoCapacity, resultInvalid, resultUnauthorized, resultNotFound,
		resultUnavailable, resultUnreachable, resultCanceled, metrics.Error,
	}
}

// Result is the result of a call as a label value: the class of a failed call, or "error"
// for any other error.
func Result(err error) string {
	switch {
	case err == nil:
		return metrics.Success
	case errors.Is(err, context.Canceled):
		return resultCanceled
	}
	switch ClassOf(err) {
	case NoCapacity:
		return resultNoCapacity
	case Invalid:
		return resultInvalid
	case Unauthorized:
		return resultUnauthorized
	case NotFound:
		return resultNotFound
	case Unavailable:
		return resultUnavailable
	case Unreachable:
		return resultUnreachable
	default:
		return metrics.Error
	}
}

// Metrics counts and times requests to sandboxd.
type Metrics struct {
	requests *metrics.CounterVec
	duration *metrics.HistogramVec
}

// NewMetrics defines the metrics in the registry.
func NewMetrics(r *metrics.Registry) *Metrics {
	const labelOperation = "operation"
	values := map[string][]string{labelOperation: operations(), metrics.LabelResult: Results()}
	m := &Metrics{
		requests: r.Counter(metrics.Family{
			Name: "sandboxd_requests_total", Labels: []string{labelOperation, metrics.LabelResult}, Values: values,
			Help: "Requests to sandboxd. A successful claim made a microVM, a successful release destroyed one.",
		}),
		duration: r.Histogram(metrics.Family{
			Name: "sandboxd_request_duration_seconds", Labels: []string{labelOperation}, Values: values,
			Help: "Time until sandboxd answered or the daemon gave up.",
		}, metrics.CallBuckets()),
	}
	for _, operation := range operations() {
		m.duration.WithLabelValues(operation)
		for _, result := range Results() {
			m.requests.WithLabelValues(operation, result)
		}
	}
	return m
}

// observe counts one request.
func (m *Metrics) observe(operation string, start time.Time, err error) {
	m.duration.WithLabelValues(operation).Observe(time.Since(start).Seconds())
	m.requests.WithLabelValues(operation, Result(err)).Inc()
}

// API is the part of a [Client] whose requests are measured.
type API interface {
	Claim(ctx context.Context, req ClaimRequest) (Claim, error)
	Release(ctx context.Context, id string, token Token) error
	ReleaseByID(ctx context.Context, id string) error
	List(ctx context.Context) ([]Sandbox, error)
	Get(ctx context.Context, id string) (Sandbox, error)
	Info(ctx context.Context) (Info, error)
}

// Measure returns next with its requests counted and timed.
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
