// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/metrics"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
	"github.com/cocoonstack/vk-sandbox/test/scrape"
)

func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.NewRegistry("")
		publications := publish.NewMetrics(m, "NodeInventory", "NodeClaimStatus")
		if s := scrape.Read(t, m.Handler()); s.Types["vk_sandbox_publications_total"] != "" {
			t.Error("publications are counted where nothing is published")
		}
		published := publications.Observe("NodeInventory")
		scrape.Read(t, m.Handler()).Want(t, map[string]string{"last_publication_timestamp_seconds{object=\"NodeInventory\"}": "0"})
		published(nil)
		at := scrape.Read(t, m.Handler()).Series["vk_sandbox_last_publication_timestamp_seconds{object=\"NodeInventory\"}"]
		if at != "9.466848e+08" { // where virtual time begins
			t.Errorf("published at %s", at)
		}
		time.Sleep(time.Minute)
		published(errors.New("no answer"))
		scrape.Read(t, m.Handler()).Want(t, map[string]string{
			"last_publication_timestamp_seconds{object=\"NodeInventory\"}":    at,
			"publications_total{object=\"NodeInventory\",result=\"success\"}": "1",
			"publications_total{object=\"NodeInventory\",result=\"error\"}":   "1",
		})
	})
}
