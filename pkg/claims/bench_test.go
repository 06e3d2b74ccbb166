// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// sizes are the rows of the tables that are measured.
var sizes = []int{100, 2_000, 10_000}

func benchKey(i int) string { return fmt.Sprintf("agents/agent-%05d", i) }

func benchID(i int) string { return fmt.Sprintf("sb_%016x", i) }

// filledTable is a table with so many bound claims, on a real disk.
func filledTable(b *testing.B, rows int) (*claims.Table, string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "claims.json")
	table, err := claims.Open(claimfile.New(claimfile.OS(), file), start)
	if err != nil {
		b.Fatal(err)
	}
	var added sync.WaitGroup
	for i := range rows {
		added.Go(func() {
			if err := table.Add(benchKey(i), row(benchID(i), types.UID(fmt.Sprintf("%036x", i))), nil); err != nil {
				b.Error(err)
			}
		})
	}
	added.Wait()
	return table, file
}

// BenchmarkCommit is one durable change of a claim, with so many on their way
// at once.
func BenchmarkCommit(b *testing.B) {
	for _, rows := range sizes {
		for _, inFlight := range []int{1, 64} {
			b.Run(fmt.Sprintf("rows=%d/inflight=%d", rows, inFlight), func(b *testing.B) {
				table, _ := filledTable(b, rows)
				var next atomic.Int64
				b.ReportAllocs()
				b.ResetTimer()
				var workers sync.WaitGroup
				for range inFlight {
					workers.Go(func() {
						for n := int(next.Add(1)); n <= b.N; n = int(next.Add(1)) {
							i := n % rows
							if err := table.Bind(benchKey(i), benchID(i), claims.Holder{PodUID: types.UID(fmt.Sprintf("%036x", n))}); err != nil {
								b.Error(err)
							}
						}
					})
				}
				workers.Wait()
			})
		}
	}
}

// BenchmarkOpen is a start: the file read, checked and written back.
func BenchmarkOpen(b *testing.B) {
	for _, rows := range sizes {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			_, file := filledTable(b, rows)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := claims.Open(claimfile.New(claimfile.OS(), file), start); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkConfirmListed is a listing that names every claim and changes none, as one
// comes every few seconds.
func BenchmarkConfirmListed(b *testing.B) {
	for _, rows := range sizes {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			table, _ := filledTable(b, rows)
			listed := make([]claims.Listed, rows)
			for i := range listed {
				listed[i] = claims.Listed{ID: benchID(i), Deadline: start.Add(24 * time.Hour)}
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := table.ConfirmListed(listed); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
