// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
)

func TestDiskFull(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		a, b := w.run("team-red/a"), w.run("team-red/b")
		w.FS.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpWrite {
				return errDisk
			}
			return nil
		})
		posts := w.posts()
		w.API.CreateOwner("team-red/d")
		w.API.CreatePod("team-red/d", false, "86400")
		w.Wait(10 * time.Minute)
		if d := w.API.Pod("team-red/d"); d.Status.Phase != corev1.PodPending || !strings.Contains(d.Status.Message, "claims table") {
			t.Errorf("pod d on a full disk: %s", w.describe("team-red/d"))
		}
		if got := w.posts() - posts; got != 1 {
			t.Errorf("%d claims were made that nobody could record, want the first alone", got)
		}
		if got := len(w.released()); got != 1 {
			t.Errorf("%d sandboxes were given back, want 1", got)
		}
		if w.running("team-red/b") != b || !w.lives(b) {
			t.Error("a full disk touched a running pod")
		}
		// A release is still possible, and converges after a restart.
		w.API.DeleteOwner("team-red/a", false)
		w.API.DeletePod("team-red/a")
		w.Wait(time.Minute)
		if w.lives(a) || w.API.Pod("team-red/a") != nil {
			t.Errorf("a's sandbox lives %v, pod: %s", w.lives(a), w.describe("team-red/a"))
		}
		w.FS.SetFault(nil)
		w.Wait(time.Minute)
		w.running("team-red/d")
		if rows := w.Table().List(); len(rows) != 2 {
			t.Errorf("%d rows once the disk works, want b and d", len(rows))
		}
	})
}

// An older build drops the fields that it does not know. The newer build must treat a
// missing field as unknown, not as changed.
func TestTableOfOtherVersionLoads(t *testing.T) {
	older := func(t *testing.T, table []byte) []byte {
		var file struct {
			Claims    map[string]map[string]any `json:"claims"`
			Releasing []any                     `json:"releasing,omitempty"`
		}
		if err := json.Unmarshal(table, &file); err != nil {
			t.Fatal(err)
		}
		for _, row := range file.Claims {
			for field := range row {
				if !slices.Contains([]string{"id", "token", "address", "podUID"}, field) {
					delete(row, field)
				}
			}
		}
		out, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	later := func(t *testing.T, table []byte) []byte {
		out := bytes.Replace(table, []byte(`{"claims":{`), []byte(`{"schema":99,"claims":{`), 1)
		return bytes.ReplaceAll(out, []byte(`"id":`), []byte(`"flavour":2,"id":`))
	}
	for name, rewrite := range map[string]func(*testing.T, []byte) []byte{"an older build": older, "a later build": later} {
		t.Run(name, func(t *testing.T) {
			play(t, func(t *testing.T, w *World) {
				held, left, unwanted := w.run("team-red/held"), w.run("team-red/left"), w.run("team-red/unwanted")
				w.API.DeletePod("team-red/left")
				w.Wait(5 * time.Second)
				w.Stop()
				w.FS.Put(tablePath, rewrite(t, w.FS.Durable(tablePath)))
				w.API.DeleteOwner("team-red/unwanted", false)
				posts := w.posts()
				w.mustStart()
				w.Wait(10 * time.Second)
				if got := w.running("team-red/held"); got != held {
					t.Errorf("the pod that held a claim runs on %s, want %s", got, held)
				}
				w.API.CreatePod("team-red/left", false, "86400")
				w.Wait(30 * time.Minute)
				if got := w.running("team-red/left"); got != left {
					t.Errorf("the pod of the same name runs on %s, want %s", got, left)
				}
				// It is asked of the Pod as the API has it.
				w.API.DeletePod("team-red/unwanted")
				w.Wait(time.Minute)
				if got := w.released(); !slices.Equal(got, []string{unwanted}) || w.posts() != posts {
					t.Errorf("released %v after %d more claims, want %s alone and none", got, w.posts()-posts, unwanted)
				}
				for _, c := range w.Table().List() {
					if c.Deadline.IsZero() || c.ClaimedAt.IsZero() {
						t.Errorf("%s: what the table lacks is not filled in: claimed %v, lease %v", c.Key, c.ClaimedAt, c.Deadline)
					}
				}
				if name == "a later build" {
					table := w.FS.Durable(tablePath)
					if !bytes.Contains(table, []byte(`"schema":99`)) || bytes.Count(table, []byte(`"flavour":2`)) != 2 {
						t.Error("what the later build wrote is gone from the file")
					}
				}
			})
		})
	}
}

// A claim can be neither recorded nor released, and its Pod and the next Pod of that
// name are deleted. The row is removed once the node confirms the end of the VM.
func TestTentativeClaimOfDeletedPodIsRemoved(t *testing.T) {
	play(t, func(t *testing.T, w *World) {
		w.FS.SetFault(func(faultfs.Op) error { return errDisk })
		w.fault(fault.Fault{Endpoint: "release", Action: fault.ActionStatus, Status: 500})
		w.API.CreateOwner(nb)
		w.API.CreatePod(nb, false, "86400")
		w.Wait(2 * time.Second)
		c, ok := w.Table().Get(nb)
		if !ok || c.State != claims.Tentative {
			t.Fatalf("the claim is %q, want it tentative", c.State)
		}
		w.API.DeleteOwner(nb, false)
		w.API.RemovePod(nb, "")
		w.API.CreateOwner(nb)
		w.API.CreatePod(nb, false, "86400")
		w.Wait(time.Minute)
		w.API.DeletePod(nb)
		w.Wait(20 * time.Minute)
		if err := w.Sandboxd.Lose(c.ID); err != nil {
			t.Fatal(err)
		}
		w.Sandboxd.Faults.Clear()
		w.FS.SetFault(nil)
		w.Wait(7 * time.Minute)
		if rows := len(w.Table().List()) + len(w.Table().Releasing()); rows != 0 {
			t.Errorf("%d rows, want none", rows)
		}
	})
}
