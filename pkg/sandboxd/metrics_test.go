// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

// results are errors and the result that each counts as.
func results() map[string]error {
	of := func(c sandboxd.Class) error {
		return errors.Join(errors.New("around"), &sandboxd.Error{Op: "x", Class: c})
	}
	return map[string]error{
		"success": nil, "no_capacity": of(sandboxd.NoCapacity), "invalid": of(sandboxd.Invalid), "unauthorized": of(sandboxd.Unauthorized),
		"not_found": of(sandboxd.NotFound), "unavailable": of(sandboxd.Unavailable), "unreachable": of(sandboxd.Unreachable),
		"canceled": errors.Join(of(sandboxd.Unreachable), context.Canceled), "error": errors.New("anything"),
	}
}

// failing answers everything with one error, after a while.
type failing struct {
	err  error
	took time.Duration
}

func (f failing) answer() error { time.Sleep(f.took); return f.err }

func (f failing) Claim(context.Context, sandboxd.ClaimRequest) (sandboxd.Claim, error) {
	return sandboxd.Claim{ID: "sb_1"}, f.answer()
}
func (f failing) Release(context.Context, string, sandboxd.Token) error { return f.answer() }
func (f failing) ReleaseByID(context.Context, string) error             { return f.answer() }
func (f failing) List(context.Context) ([]sandboxd.Sandbox, error) {
	return []sandboxd.Sandbox{{ID: "sb_1"}}, f.answer()
}
func (f failing) Get(context.Context, string) (sandboxd.Sandbox, error) {
	return sandboxd.Sandbox{ID: "sb_1"}, f.answer()
}
func (f failing) Info(context.Context) (sandboxd.Info, error) { return sandboxd.Info{}, f.answer() }

// A release by id is a release, whatever credential it presents.
func TestReleasesByIDAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry("")
		measure := sandboxd.NewMetrics(m).Measure
		for _, err := range results() {
			counted := measure(failing{err, time.Second})
			if got := counted.ReleaseByID(t.Context(), "sb_1"); !errors.Is(got, err) {
				t.Errorf("the error %v became %v", err, got)
			}
		}
		want := map[string]string{}
		for result := range results() {
			want["sandboxd_requests_total{operation=\"release\",result=\""+result+"\"}"] = "1"
		}
		scrape.Read(t, m.Handler()).Want(t, want)
	})
}

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry("")
		measure := sandboxd.NewMetrics(m).Measure
		for _, err := range results() {
			counted := measure(failing{err, time.Second})
			claim, claimErr := counted.Claim(t.Context(), sandboxd.ClaimRequest{})
			list, listErr := counted.List(t.Context())
			one, getErr := counted.Get(t.Context(), "sb_1")
			_, infoErr := counted.Info(t.Context())
			releaseErr := counted.Release(t.Context(), "sb_1", sandboxd.Token{})
			for _, got := range []error{claimErr, listErr, getErr, infoErr, releaseErr} {
				if !errors.Is(got, err) {
					t.Errorf("the error %v became %v", err, got)
				}
			}
			if claim.ID != "sb_1" || len(list) != 1 || one.ID != "sb_1" {
				t.Errorf("answers were lost: %v, %v, %v", claim.ID, list, one)
			}
		}
		s := scrape.Read(t, m.Handler())
		for _, op := range []string{"claim", "release", "list", "get", "info"} {
			for result := range results() {
				s.Want(t, map[string]string{"sandboxd_requests_total{operation=\"" + op + "\",result=\"" + result + "\"}": "1"})
			}
			s.Want(t, map[string]string{"sandboxd_request_duration_seconds_sum{operation=\"" + op + "\"}": "9"})
		}
	})
}
