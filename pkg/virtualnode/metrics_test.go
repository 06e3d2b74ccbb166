// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode_test

import (
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

func TestMetrics(t *testing.T) {
	m := metrics.NewRegistry("")
	depths := map[virtualnode.Queue]int{virtualnode.PodSync: 1, virtualnode.PodDelete: 2, virtualnode.PodStatus: 3}
	virtualnode.NewMetrics(m).Watch(func() map[virtualnode.Queue]int { return depths }, func() int { return 4 })
	scrape.Read(t, m.Handler()).Want(t, map[string]string{
		"queue_depth{queue=\"pod_sync\"}": "1", "queue_depth{queue=\"pod_delete\"}": "2",
		"queue_depth{queue=\"pod_status\"}": "3", "queue_depth{queue=\"status_publish\"}": "4",
	})
}
