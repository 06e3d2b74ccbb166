// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// BenchmarkDocument reads the table and makes what is applied, but for the
// request.
func BenchmarkDocument(b *testing.B) {
	for _, size := range []int{100, 2_000, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", size), func(b *testing.B) {
			table := &fakeTable{claims: manyClaims(size, 12, 24)}
			collector := Collector{Table: table, Provider: table}
			b.ReportAllocs()
			for b.Loop() {
				d, err := newDocument(v1alpha1.NodeClaimStatus(fakeapi.NodeName), collector.Collect(), MaxBytes)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := json.Marshal(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
