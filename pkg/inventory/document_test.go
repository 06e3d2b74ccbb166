// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// manyRows are n claims of this node with keys as long as asked for, every
// field set.
func manyRows(n, namespace, name int) ([]sandboxd.Sandbox, fakeClaims) {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	rows, claims := make([]sandboxd.Sandbox, n), fakeClaims{}
	for i := range rows {
		rows[i] = sandboxd.Sandbox{
			ID:         fmt.Sprintf("sb_%021d", i),
			ClaimRef:   fmt.Sprintf("%s/%0*d", strings.Repeat("n", namespace), name, i),
			Key:        sandboxd.Key{Template: template, Net: "none", Size: "small"},
			Hibernated: true,
			ClaimedAt:  at,
			Deadline:   at.Add(24 * time.Hour),
		}
		claims[rows[i].ID] = serves(rows[i].ID, "192.168.100.100:17777")
	}
	return rows, claims
}

func TestSizeOfOneObject(t *testing.T) {
	tests := []struct {
		entries, namespace, name int
		truncated                bool
	}{
		{2000, 12, 24, false},
		// The key is in an entry twice, as name and as claimRef.
		{1300, 63, 253, false},
		{2000, 63, 253, true},
		{5000, 40, 120, true},
		{5000, 63, 253, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d entries %d+%d", tt.entries, tt.namespace, tt.name), func(t *testing.T) {
			h := newHarness()
			var claims fakeClaims
			h.sandboxd.rows, claims = manyRows(tt.entries, tt.namespace, tt.name)
			h.config.Claims = claims
			if _, err := h.publisher(t).Publish(t.Context()); err != nil {
				t.Fatal(err)
			}

			got := h.stored(t)
			t.Logf("%d of %d entries", len(got.Entries), tt.entries)
			fakeapi.CheckSize(t, got)
			if *got.TotalEntries != int64(tt.entries) {
				t.Errorf("totalEntries %d, want %d", *got.TotalEntries, tt.entries)
			}
			if truncated := len(got.Entries) < tt.entries; truncated != tt.truncated {
				t.Errorf("%d entries of %d, want truncated %t", len(got.Entries), tt.entries, tt.truncated)
			}
			// What is kept is the start of the order, without a gap.
			for i, e := range got.Entries {
				if e.ID != fmt.Sprintf("sb_%021d", i) {
					t.Fatalf("entry %d is %s", i, e.ID)
				}
			}
		})
	}
}

func TestNewDocumentFillsTheLimitAndStaysWithin(t *testing.T) {
	rows, claims := manyRows(10, 5, 8)
	addresses := map[string]string{}
	for _, held := range claims {
		addresses[held.ID] = held.Address
	}
	snapshot := Snapshot{Entries: entries(rows, addresses)}
	size := func(n int) int {
		b, err := json.Marshal(document{v1beta1.NodeInventory(fakeapi.NodeName), nil, snapshot.Entries[:n]})
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	for n := range 10 {
		for _, limit := range []int{size(n), size(n+1) - 1} {
			d, err := newDocument(v1beta1.NodeInventory(fakeapi.NodeName), snapshot, limit)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(d.Entries); got != n {
				t.Errorf("%d entries in %d bytes, want %d", got, limit, n)
			}
		}
	}
}

func TestPoolsAloneBeyondTheLimit(t *testing.T) {
	h := newHarness()
	for i := range 3000 {
		h.sandboxd.info.Pools = append(h.sandboxd.info.Pools, sandboxd.Pool{
			Key: sandboxd.Key{Template: fmt.Sprintf("%0500d", i), Net: "none", Size: "small"},
		})
	}
	_, err := h.publisher(t).Publish(t.Context())
	if err == nil || !strings.Contains(err.Error(), "give sandboxd fewer pools") {
		t.Errorf("error %v, want one that says what to do", err)
	}
	if len(h.Applies()) > 0 {
		t.Error("an object beyond the limit was applied")
	}
}
