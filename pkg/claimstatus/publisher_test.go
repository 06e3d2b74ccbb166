// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// At rest there is the watch, and nothing else.
func TestNothingIsSentWhenNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		h.Client.ClearActions()
		for range 600 {
			h.change(func() { h.table.verified = time.Now() })
			fakeapi.Pass(10 * time.Second)
		}
		if actions := h.Client.Actions(); len(actions) > 0 {
			t.Errorf("requests at rest: %v", actions)
		}
		// Changes without a signal are found by the next periodic pass.
		h.change(func() { h.table.waiting = map[string]string{"sb_a": "something"} })
		fakeapi.Pass(2 * interval)
		if got := h.stored(t).Status; got.Claims[0].WaitingFor != "something" || !got.LastVerifiedTime.After(time.Now().Add(-time.Minute)) {
			t.Errorf("claims %v, verified %v", got.Claims, got.LastVerifiedTime)
		}
		for _, action := range h.Client.Actions() {
			if verb := action.GetVerb(); verb == "list" || verb == "delete" {
				t.Errorf("a %s of %s", verb, action.GetResource())
			}
		}
	})
}

func TestAChangeAfterAnIdleTimeIsPublishedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		fakeapi.Pass(17 * time.Minute)
		before, moved := len(h.Applies()), time.Now()
		h.move(func() { h.table.claims = append(h.table.claims, claim("b", claims.Tentative)) })
		fakeapi.Pass(100 * time.Millisecond)
		h.move(func() { h.table.claims[1].State = claims.Bound })
		fakeapi.Pass(2 * interval)
		applied := h.Applies()[before:]
		if len(applied) != 1 || applied[0].Sub(moved) > time.Second {
			t.Fatalf("applied at %v after a change at %v, want once and within a second", applied, moved)
		}
		if diff := cmp.Diff([]string{"team-red/a Bound", "team-red/b Bound"}, pods(h.stored(t))); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
	})
}

func TestOnePublicationInAnInterval(t *testing.T) {
	for _, every := range []time.Duration{time.Second, interval, time.Hour} {
		t.Run(every.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.config.Interval = every
				_, stop := h.run(t)
				defer stop()
				fakeapi.Pass(min(publish.StartSpread, every))
				if len(h.Applies()) != 1 {
					t.Fatalf("%d applies soon after start, want one", len(h.Applies()))
				}
				for i := range 1000 {
					h.move(func() { h.table.claims = []claims.Claim{claim(fmt.Sprint(i), claims.Bound)} })
					fakeapi.Pass(every / 20)
				}
				applied := h.Applies()
				fakeapi.CheckCadence(t, applied, every, every*6/5)
				if len(applied) < 41 {
					t.Errorf("%d applies in 50 intervals", len(applied))
				}
				fakeapi.Pass(2 * every)
				if diff := cmp.Diff([]string{"team-red/999 Bound"}, pods(h.stored(t))); diff != "" {
					t.Errorf("claims (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestFailures(t *testing.T) {
	down := errors.New("connection refused")
	noCRD := apierrors.NewGenericServerResponse(404, "patch", api.Resource("nodeclaimstatuses"), fakeapi.NodeName, "", 0, true)
	tests := []struct {
		name   string
		break_ func(*harness)
		says   string
	}{
		{"the API server is away", func(h *harness) { h.ApplyErr = down }, "connection refused"},
		{"there is no CRD", func(h *harness) { h.ApplyErr = noCRD }, "install the NodeClaimStatus CRD, or stop it"},
		{"the CRD is older", func(h *harness) {
			h.ApplyErr = apierrors.NewInternalError(errors.New("failed to create typed patch object: .status.truncatedCount: field not declared in schema"))
		}, ".status.truncatedCount: field not declared in schema (the installed NodeClaimStatus CRD is of another version"},
		{"no right", func(h *harness) {
			h.ApplyErr = apierrors.NewForbidden(api.Resource("nodeclaimstatuses"), fakeapi.NodeName, nil)
		}, "needs create and patch on nodeclaimstatuses and nodeclaimstatuses/status"},
		{"there is no Node", func(h *harness) { h.NodeErr = fakeapi.NoNode() }, "not registered yet"},
		{"the Node cannot be read", func(h *harness) { h.NodeErr = down }, "look up the Node: connection refused"},
	}
	mend := func(h *harness) { h.ApplyErr, h.NodeErr = nil, nil }
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHarness()
				h.change(func() { tt.break_(h) })
				logs, stop := h.run(t)
				defer stop()
				fakeapi.Pass(time.Hour)
				if n := len(h.Client.Actions()); n > 40 {
					t.Errorf("%d requests in an hour of failures", n)
				}
				h.change(func() { mend(h) })
				fakeapi.Pass(2 * maxRetry)
				good := h.stored(t)

				h.move(func() { h.table.claims = nil; tt.break_(h) })
				fakeapi.Pass(time.Minute)
				if diff := cmp.Diff(good, h.stored(t)); diff != "" {
					t.Errorf("the published object changed (-before +after):\n%s", diff)
				}
				h.change(func() { mend(h) })
				fakeapi.Pass(2 * maxRetry)
				if got := h.stored(t); len(got.Status.Claims) > 0 {
					t.Errorf("claims %v when all answer again", got.Status.Claims)
				}

				const not, again = "Claim status not published; the last published copy stays, and it is tried again: ", "Claim status is published again"
				got := fakeapi.Messages(logs)
				if len(got) != 4 || got[1] != again || got[3] != again {
					t.Fatalf("log %q, want each failure and each end of one, once", got)
				}
				for _, i := range []int{0, 2} {
					if !strings.Contains(got[i], not) || !strings.Contains(got[i], tt.says) {
						t.Errorf("log line %q does not say %q", got[i], tt.says)
					}
				}
			})
		})
	}
}

func TestAStateIsLoggedWhenItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		logs := h.start(t)
		for i := range 10 {
			h.move(func() { h.table.claims = []claims.Claim{claim(fmt.Sprint(i), claims.Bound)} })
			fakeapi.Pass(2 * interval)
		}
		h.update(t, func(o *api.NodeClaimStatus) { o.Status.Claims = nil })
		fakeapi.Pass(2 * interval)
		many := manyClaims(3000, 63, 253)
		h.move(func() { h.table.claims = many })
		fakeapi.Pass(2 * interval)
		h.move(func() { h.table.claims = many[1:] })
		fakeapi.Pass(2 * interval)
		h.move(func() { h.table.claims = many[:1] })
		fakeapi.Pass(2 * interval)
		want := []string{
			"Claim status published",
			"Claim status was changed or deleted by someone else; it is published again",
			"Claim status does not show all claims; the others are held, and are left out to keep the object within its size limit",
			"Claim status shows all claims again",
		}
		if diff := cmp.Diff(want, fakeapi.Messages(logs)); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
	})
}

func TestStopping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		logs, stop := h.run(t)
		fakeapi.Pass(3 * interval)
		stop()
		applied := len(h.Applies())
		h.move(func() { h.table.claims = nil })
		fakeapi.Pass(time.Hour)
		if len(h.Applies()) != applied {
			t.Errorf("%d applies after the end", len(h.Applies())-applied)
		}
		if got := pods(h.stored(t)); len(got) != 1 {
			t.Errorf("claims %v after the end: a restart must remove nothing", got)
		}
		if got := fakeapi.Messages(logs); len(got) != 1 {
			t.Errorf("log %q", got)
		}
	})
}

func TestNewPublisherRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		says   string
	}{
		{"no node name", func(c *Config) { c.NodeName = "" }, `node name ""`},
		{"a node name that names no object", func(c *Config) { c.NodeName = "Host_1" }, `node name "Host_1"`},
		{"no interval", func(c *Config) { c.Interval = 0 }, "claim status interval 0s"},
		{"a negative interval", func(c *Config) { c.Interval = -interval }, "claim status interval -10s"},
		{"no table", func(c *Config) { c.Table = nil }, "no table given"},
		{"no provider", func(c *Config) { c.Provider = nil }, "no provider given"},
		{"no client", func(c *Config) { c.Client = nil }, "no client given"},
		{"no node", func(c *Config) { c.Node = nil }, "no node given"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := newHarness().config
			tt.change(&config)
			if _, err := NewPublisher(config); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %v does not say %q", err, tt.says)
			}
		})
	}
}

// A condition's change is a change.
func TestSandboxdAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.start(t)
		ready := condition(t, h.stored(t), "Ready")
		h.change(func() {
			h.table.reachable = metav1.Condition{Type: api.ConditionSandboxdReachable, Status: metav1.ConditionFalse, Reason: "SandboxdUnreachable", Message: "no answer"}
		})
		fakeapi.Pass(2 * interval)
		got := condition(t, h.stored(t), "Ready")
		if got.Status != metav1.ConditionFalse || got.Reason != "SandboxdUnreachable" || !ready.LastTransitionTime.Before(&got.LastTransitionTime) {
			t.Errorf("Ready = %+v, was %+v", got, ready)
		}
	})
}

// An object that needs no write counts as up to date; one that could not be
// written does not.
func TestObserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		var fresh, failed int
		h.config.Observe = func(err error) {
			if err == nil {
				fresh++
			} else {
				failed++
			}
		}
		h.start(t)
		fakeapi.Pass(10 * time.Minute)
		if applies := len(h.Applies()); fresh <= applies || failed > 0 {
			t.Errorf("%d cycles up to date and %d not, with %d applies", fresh, failed, applies)
		}
		before := fresh
		h.move(func() {
			h.ApplyErr = errors.New("no API server")
			h.table.claims = append(h.table.claims, claim("b", claims.Bound))
		})
		fakeapi.Pass(time.Minute)
		if failed == 0 || fresh > before {
			t.Errorf("%d cycles up to date and %d not while nothing can be written", fresh-before, failed)
		}
	})
}
