// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podstatus_test

import (
	"fmt"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/podstatus"
)

// BenchmarkRunningStatus builds the statuses of so many Pods.
func BenchmarkRunningStatus(b *testing.B) {
	for _, pods := range []int{100, 2_000, 10_000} {
		b.Run(fmt.Sprintf("pods=%d", pods), func(b *testing.B) {
			pod := podOf(1)
			b.ReportAllocs()
			for b.Loop() {
				for range pods {
					podstatus.Running(pod, bound)
				}
			}
		})
	}
}
