// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// manyClaims are n claims with keys as long as asked for, every field set.
func manyClaims(n, namespace, name int) []claims.Claim {
	at := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	out := make([]claims.Claim, n)
	for i := range out {
		pod := fmt.Sprintf("%0*d", name, i)
		out[i] = claims.Claim{
			Key: strings.Repeat("n", namespace) + "/" + pod, State: claims.Bound, Durable: true,
			Row: claims.Row{
				ID: fmt.Sprintf("sb_%021d", i), Token: sandboxd.NewToken(secret), Address: "192.168.100.100:17777",
				PodUID: fakeapi.FirstUID, ClaimedAt: at, Deadline: at.Add(24 * time.Hour),
				Controller: &claims.Owner{APIVersion: "agents.x-k8s.io/v1beta1", Kind: "Sandbox", Name: pod, UID: fakeapi.SecondUID},
			},
		}
	}
	return out
}

// The object stays within what etcd takes, with the record of field owners and
// what others may add, and says how much of the table it does not show.
func TestSizeOfOneObject(t *testing.T) {
	tests := []struct {
		claims, namespace, name int
		truncated               bool
	}{
		{2000, 12, 24, false},
		{2000, 40, 120, true},
		{2000, 63, 253, true},
		{5000, 40, 120, true},
		{5000, 63, 253, true},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%d claims %d+%d", tt.claims, tt.namespace, tt.name), func(t *testing.T) {
			h := newHarness()
			h.table.claims = manyClaims(tt.claims, tt.namespace, tt.name)
			// What people look for is last in the table.
			h.table.claims[tt.claims-1].State = claims.Preserved
			h.table.releasing = []claims.Claim{claim("gone", claims.Releasing)}
			if _, err := h.publisher(t).Publish(t.Context()); err != nil {
				t.Fatal(err)
			}

			got := h.stored(t)
			t.Logf("%d of %d claims", len(got.Status.Claims), tt.claims+1)
			fakeapi.CheckSize(t, got)
			left := int(*got.Status.TruncatedCount)
			if len(got.Status.Claims)+left != tt.claims+1 || (left > 0) != tt.truncated {
				t.Errorf("%d claims shown and %d left out of %d, want truncated %t", len(got.Status.Claims), left, tt.claims+1, tt.truncated)
			}
			if c := got.Status.Counts; c.Bound != int64(tt.claims-1) || c.Preserved != 1 || c.Releasing != 1 {
				t.Errorf("counts %+v do not count what is left out", c)
			}
			if got.Status.LastPublishedTime == nil {
				t.Error("a reader cannot tell how old this is")
			}
			for i, want := range []string{"sb_gone", fmt.Sprintf("sb_%021d", tt.claims-1), fmt.Sprintf("sb_%021d", 0)} {
				if id := got.Status.Claims[i].ID; id != want {
					t.Errorf("claim %d is %s, want %s", i, id, want)
				}
			}
		})
	}
}

func TestNewDocumentFillsTheLimitAndStaysWithin(t *testing.T) {
	table := &fakeTable{claims: manyClaims(10, 5, 8)}
	collector := Collector{Table: table, Provider: table}
	status := collector.Collect()
	object := v1alpha1.NodeClaimStatus(fakeapi.NodeName)
	size := func(n int) int {
		// As many digits as the count of all that is left out.
		s, truncated := status, int64(10)
		s.Claims, s.TruncatedCount = nil, &truncated
		b, err := json.Marshal(document{object, statusDocument{s, status.Claims[:n]}})
		if err != nil {
			t.Fatal(err)
		}
		return len(b)
	}
	for n := range 10 {
		for _, limit := range []int{size(n), size(n+1) - 1} {
			d, err := newDocument(object, status, limit)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(d.Status.Claims); got != n || int(*d.Status.TruncatedCount) != 10-n {
				t.Errorf("%d claims in %d bytes and %d left out, want %d", got, limit, *d.Status.TruncatedCount, n)
			}
			if b, err := json.Marshal(d); err != nil || len(b) > limit {
				t.Errorf("%d bytes (%v), limit %d", len(b), err, limit)
			}
		}
	}
}

func TestNoMoreRowsThanTheSchemaTakes(t *testing.T) {
	table := &fakeTable{}
	for i := range maxRows + 5 {
		table.claims = append(table.claims, claims.Claim{Key: "n/p", State: claims.Bound, Row: claims.Row{ID: fmt.Sprint(i)}})
	}
	collector := Collector{Table: table, Provider: table}
	d, err := newDocument(v1alpha1.NodeClaimStatus(fakeapi.NodeName), collector.Collect(), MaxBytes)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Status.Claims) != maxRows || *d.Status.TruncatedCount != 5 {
		t.Errorf("%d rows, %d left out", len(d.Status.Claims), *d.Status.TruncatedCount)
	}
}
