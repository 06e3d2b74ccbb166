// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, disk := metrics.NewRegistry(""), faultfs.New()
		table, err := claims.Open(claimfile.New(disk, "/state/claims.json"), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		claims.NewMetrics(m).Watch(table)
		scrape.Read(t, m.Handler()).Want(t, map[string]string{
			"claims{state=\"bound\"}": "0", "claims{state=\"releasing\"}": "0", "claims_table_durable": "1",
			"claims_table_writes_total{result=\"success\"}": "0", "claims_table_write_duration_seconds_count": "0",
		})
		disk.SetFault(func(op faultfs.Op) error {
			if op == faultfs.OpSync {
				time.Sleep(2 * time.Second)
			}
			return nil
		})
		row := func(id string) claims.Row {
			return claims.Row{ID: id, Token: sandboxd.NewToken("token-of-" + id), PodUID: "pod"}
		}
		for _, id := range []string{"a", "b"} {
			if err := table.Add("team-red/"+id, row(id), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.EnqueueRelease("team-red/b", "b"); err != nil {
			t.Fatal(err)
		}
		scrape.Read(t, m.Handler()).Want(t, map[string]string{
			"claims{state=\"bound\"}": "1", "claims{state=\"releasing\"}": "1",
			"claims_table_writes_total{result=\"success\"}": "3", "claims_table_write_duration_seconds_sum": "6",
		})
		disk.SetFault(func(faultfs.Op) error { return errors.New("disk full") })
		if err := table.Add("team-red/c", row("c"), nil); err == nil {
			t.Fatal("a write to a full disk landed")
		}
		scrape.Read(t, m.Handler()).Want(t, map[string]string{
			"claims{state=\"tentative\"}": "1", "claims_table_durable": "0", "claims_table_writes_total{result=\"error\"}": "1",
		})
		disk.SetFault(nil)
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		scrape.Read(t, m.Handler()).Want(t, map[string]string{"claims_table_durable": "1"})
	})
}
