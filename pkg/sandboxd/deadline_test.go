// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// silent never answers.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// stalls answers with a status and a body that hangs.
func stalls(status int) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		body := io.NopCloser(readFunc(func([]byte) (int, error) {
			<-r.Context().Done()
			return 0, r.Context().Err()
		}))
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: body, ContentLength: -1}, nil
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// Each call has its own deadline, before the answer and inside it; a claim's
// leaves room for a cold boot, as does that of each call that stops or copies a VM.
func TestDeadlines(t *testing.T) {
	for name, c := range map[string]struct {
		transport roundTrip
		want      sandboxd.Class
	}{
		"no answer":             {silent, sandboxd.Unreachable},
		"stalled answer":        {stalls(http.StatusOK), sandboxd.Unreachable},
		"stalled error, status": {stalls(http.StatusTooManyRequests), sandboxd.NoCapacity},
	} {
		for _, o := range operations {
			if name == "stalled answer" && (strings.HasPrefix(o.op, "release") || o.op == "healthz") {
				continue // the status settles these
			}
			t.Run(o.op+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want := sandboxd.CallTimeout
					switch o.op {
					case "claim", "hibernate", "wake", "fork", "checkpoint":
						want = sandboxd.ClaimTimeout
					}
					start := time.Now()
					err := o.call(context.Background(), newClient(t, sandboxd.Config{Transport: c.transport}))
					wantClass(t, err, c.want)
					if got := time.Since(start); got != want {
						t.Errorf("gave up after %v, want %v", got, want)
					}
					if c.want == sandboxd.Unreachable && !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("cause of %v is not the deadline", err)
					}
				})
			})
		}
	}
}

// A claim that is refused and repeated has its whole time twice.
func TestDeadlineOfTheSecondTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := tokenFile(t, "old")
		source := fileToken(t, path)
		writeToken(t, path, "new")
		cl := newClient(t, sandboxd.Config{Token: source, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Header.Get("Authorization") == "Bearer new" {
				return silent(r)
			}
			time.Sleep(sandboxd.ClaimTimeout - time.Second)
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: http.NoBody}, nil
		})})
		start := time.Now()
		_, err := cl.Claim(context.Background(), sandboxd.ClaimRequest{Template: "rt:24.04"})
		wantClass(t, err, sandboxd.Unreachable)
		if got, want := time.Since(start), 2*sandboxd.ClaimTimeout-time.Second; got != want {
			t.Errorf("gave up after %v, want %v", got, want)
		}
	})
}

func TestCallerGivesUp(t *testing.T) {
	for _, o := range operations {
		t.Run(o.op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				start := time.Now()
				time.AfterFunc(2*time.Second, cancel)
				err := o.call(ctx, newClient(t, sandboxd.Config{Transport: roundTrip(silent)}))
				wantClass(t, err, sandboxd.Unreachable)
				if !errors.Is(err, context.Canceled) || time.Since(start) != 2*time.Second {
					t.Errorf("error %v after %v, want the cancellation after 2s", errors.Unwrap(err), time.Since(start))
				}
			})
		})
	}
}
