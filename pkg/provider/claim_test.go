// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

// credentials returns every token in the table, by sandbox.
func (w *world) credentials() map[string][]sandboxd.Token {
	out := map[string][]sandboxd.Token{}
	for _, c := range append(w.p.table.List(), w.p.table.Releasing()...) {
		out[c.ID] = append(out[c.ID], c.Token)
	}
	return out
}

// A time that parses but cannot be encoded costs only its own value.
func TestADeadlineThatCannotBeWritten(t *testing.T) {
	for name, deadline := range map[string]string{
		"an offset that Go writes not": "2026-07-28T02:15:00+24:00",
		"a year of five digits in UTC": "9999-12-31T23:30:00-10:00",
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				at, err := time.Parse(time.RFC3339, deadline)
				if err != nil {
					t.Fatal(err)
				}
				w.node.Set(func() { w.node.Next = func(c *sandboxd.Claim) { c.Deadline = at } })
				claim := w.run("a", "P1", "A")
				w.restart()
				if c, held := w.row("a"); !held || c.Token != claim.Token {
					t.Errorf("held %t after a restart, want the token kept", held)
				}
				if w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
					t.Errorf("%d claims, released %v", w.node.ClaimCount(), w.node.Destroyed())
				}
			})
		})
	}
}

// A sandbox that is delivered twice keeps both tokens, and a file that the next start
// loads. It is not destroyed while a Pod runs on it.
func TestASandboxThatIsDeliveredTwice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.node.Set(func() { w.node.Next = func(c *sandboxd.Claim) { c.ID = "sb_same" } })
		w.run("a", "P1", "A")
		w.owners.Set(ownership.Alive, "B")
		if err := w.create(fakes.NewPod("b", "P2", "B")); !errors.Is(err, claims.ErrOtherClaim) {
			t.Errorf("error = %v", err)
		}
		if _, held := w.row("b"); held || len(w.credentials()["sb_same"]) != 2 {
			t.Errorf("b holds %t, %d tokens are kept", held, len(w.credentials()["sb_same"]))
		}
		w.restart()
		if got := len(w.credentials()["sb_same"]); got != 2 {
			t.Errorf("%d tokens after a restart", got)
		}
		_ = w.create(w.pod("a"))
		w.forget(w.pod("b"))
		time.Sleep(time.Hour)
		if len(w.node.Destroyed()) > 0 || w.phase("a") != corev1.PodRunning {
			t.Fatalf("released %v, and a is %s", w.node.Destroyed(), w.phase("a"))
		}
		w.owners.Set(ownership.Gone, "A")
		w.remove("a")
		time.Sleep(goneAfter + time.Minute)
		if len(w.node.Destroyed()) != 1 || len(w.credentials()) > 0 {
			t.Errorf("released %v, kept %v once nobody holds it", w.node.Destroyed(), w.credentials())
		}
	})
}

// Two rows of a file can name one sandbox. It is released with the last of them.
func TestTwoClaimsOfOneSandbox(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.run("a", "P1", "A")
		w.run("b", "P2", "B")
		w.stop()
		row := `{"id":"sb_1","token":"token-1","address":"10.0.0.5:7777","podUID":"P%","authority":"%",
			"controller":{"apiVersion":"agents.x-k8s.io/v1beta1","kind":"Sandbox","name":"of-%","uid":"%"},"deadline":"2000-01-02T00:00:00Z"}`
		w.fs.Put(fakes.TablePath, []byte(`{"claims":{"agents/a":`+replaceUIDs(row, "1", "A")+`,"agents/b":`+replaceUIDs(row, "2", "B")+`}}`))
		w.start()
		for _, name := range []string{"a", "b"} {
			if err := w.create(w.pod(name)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(verifyEvery)
		w.owners.Set(ownership.Gone, "A")
		w.remove("a")
		time.Sleep(time.Hour)
		if len(w.node.Destroyed()) > 0 || w.phase("b") != corev1.PodRunning {
			t.Fatalf("released %v while b is %s on it", w.node.Destroyed(), w.phase("b"))
		}
		w.owners.Set(ownership.Gone, "B")
		w.remove("b")
		time.Sleep(time.Minute)
		if len(w.node.Destroyed()) != 1 {
			t.Errorf("released %v once nobody holds it", w.node.Destroyed())
		}
	})
}

// A claim whose write and return both fail keeps its credential until it is returned.
func TestAClaimThatIsNeitherRecordedNorReturned(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.owners.Set(ownership.Alive, "A")
		w.node.Set(func() {
			w.node.ReleaseErr["sb_1"] = fakes.Failing("release")
			w.node.Next = func(*sandboxd.Claim) { w.fs.SetFault(func(faultfs.Op) error { return errors.New("disk full") }) }
		})
		if err := w.create(fakes.NewPod("a", "P1", "A")); err == nil {
			t.Fatal("the create was to fail")
		}
		time.Sleep(time.Hour)
		if got := w.credentials()["sb_1"]; len(got) != 1 || w.phase("a") != corev1.PodPending {
			t.Fatalf("%d tokens are kept, and the Pod is %s", len(got), w.phase("a"))
		}
		w.fs.SetFault(nil)
		w.node.Set(func() { w.node.Next = nil; clear(w.node.ReleaseErr) })
		time.Sleep(retryLimit)
		if c, _ := w.row("a"); c.ID != "sb_2" || w.phase("a") != corev1.PodRunning || len(w.node.Destroyed()) != 1 || len(w.credentials()) != 1 {
			t.Errorf("claim %s, %s, released %v, kept %d", c.ID, w.phase("a"), w.node.Destroyed(), len(w.credentials()))
		}
	})
}

// A Pod whose address contains no IP address has no podIP, but keeps its sandbox.
func TestAnOddAddressCostsNoSandbox(t *testing.T) {
	for name, tc := range map[string]struct{ address, ip string }{
		"empty":          {"", ""},
		"a host name":    {"host-1.example.com:7777", ""},
		"unspecified":    {"0.0.0.0:7777", ""},
		"a port alone":   {":7777", ""},
		"ambiguous IPv6": {"2001:db8::1:7777", ""},
		"without a port": {"10.0.0.7", "10.0.0.7"},
		"bare IPv6":      {"2001:db8::beef", "2001:db8::beef"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				w.node.Set(func() { w.node.Next = func(c *sandboxd.Claim) { c.OwnerAddr = tc.address } })
				w.run("a", "P1", "A")
				time.Sleep(time.Hour)
				pod := w.pod("a")
				if pod.Status.Phase != corev1.PodRunning || pod.Status.PodIP != tc.ip || podstatus.ClaimID(pod) != "sb_1" {
					t.Errorf("%s with podIP %q on %q", pod.Status.Phase, pod.Status.PodIP, podstatus.ClaimID(pod))
				}
				if w.node.ClaimCount() != 1 || len(w.node.Destroyed()) > 0 {
					t.Errorf("%d claims, released %v", w.node.ClaimCount(), w.node.Destroyed())
				}
				if got := w.events.Count(events.ReasonAddress); got != map[bool]int{true: 1, false: 0}[tc.ip == ""] {
					t.Errorf("%d events about the address", got)
				}
			})
		})
	}
}
