// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/test/fakeapi"
)

// BenchmarkDocument reads the node and makes what is applied, but for the request.
func BenchmarkDocument(b *testing.B) {
	for _, size := range []int{100, 2_000, 10_000} {
		b.Run(fmt.Sprintf("rows=%d", size), func(b *testing.B) {
			rows, claims := manyRows(size, 12, 24)
			collector := &Collector{Sandboxd: &fakeSandboxd{rows: rows}, Claims: claims}
			b.ReportAllocs()
			for b.Loop() {
				snapshot, err := collector.Collect(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				d, err := newDocument(v1beta1.NodeInventory(fakeapi.NodeName), snapshot, MaxBytes)
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
