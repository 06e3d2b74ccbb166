// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

func open(t *testing.T, dir string) *Record {
	t.Helper()
	r, err := OpenRecord(config.Config{StateDir: dir, Clock: testingclock.NewFakeClock(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARecordOutlivesItsProcess(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	if !r.Empty() {
		t.Error("a new record is not empty")
	}
	r.Add(Event{Type: EventMade, Sandbox: "sb_1"})
	r.Add(Event{Type: EventReaped, Sandbox: "sb_1", By: ByReaper})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "history.jsonl")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// A crash cuts the last line short.
	if err := os.WriteFile(file, append(content, `{"seq":`...), 0o600); err != nil {
		t.Fatal(err)
	}
	r = open(t, dir)
	r.Add(Event{Type: EventMade, Sandbox: "sb_2"})
	events, n := r.Events(Filter{})
	if len(events) != 3 || events[2].Seq != 3 || n.Made != 2 || n.Destroyed != 1 || n.DestroyedBy[ByReaper] != 1 {
		t.Errorf("events %v, counters %+v", events, n)
	}
	if !r.Knows("sb_1") || !r.Knows("sb_2") || r.Knows("sb_3") {
		t.Error("the record does not know which VMs there were")
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRecord(config.Config{StateDir: dir}); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged record: %v", err)
	}
}

func TestFilter(t *testing.T) {
	r := open(t, "")
	for _, e := range []Event{
		{Type: EventMade, Sandbox: "sb_1"}, {Type: EventClaimed, Sandbox: "sb_1", ClaimRef: "a/1"},
		{Type: EventMade, Sandbox: "sb_2"}, {Type: EventClaimed, Sandbox: "sb_2", ClaimRef: "a/2"},
		{Type: EventAnswered, Sandbox: "sb_2", ClaimRef: "a/2"},
	} {
		r.Add(e)
	}
	for name, tc := range map[string]struct {
		filter Filter
		want   int
	}{
		"all":              {Filter{}, 5},
		"sandbox":          {Filter{Sandbox: "sb_1"}, 2},
		"claim ref":        {Filter{ClaimRef: "a/2"}, 2},
		"type":             {Filter{Type: EventClaimed}, 2},
		"after":            {Filter{After: 4}, 1},
		"sandbox and type": {Filter{Sandbox: "sb_2", Type: EventAnswered}, 1},
	} {
		if events, n := r.Events(tc.filter); len(events) != tc.want || n.Claimed != 2 || n.Answered != 1 {
			t.Errorf("%s: events %v, counters %+v; want %d events and the counters of all", name, events, n, tc.want)
		}
	}
}

// TestNothingComesBetweenAnAnswerAndItsEvent adds events while an answer is written.
func TestNothingComesBetweenAnAnswerAndItsEvent(t *testing.T) {
	r := open(t, "")
	added := make(chan struct{})
	r.Answer(func() {
		go func() {
			r.Add(Event{Type: EventReleased})
			close(added)
		}()
	}, func() Event { return Event{Type: EventAnswered} })
	<-added
	if events, _ := r.Events(Filter{}); len(events) != 2 || events[0].Type != EventAnswered {
		t.Errorf("events %v, want the answer first", events)
	}
}

func TestRequestsAreBoundedAndCounted(t *testing.T) {
	var log Requests
	const more = 10
	endpoints := []string{"claim", "list"}
	want := map[string]int{}
	for range maxRequests + more {
		e := endpoints[rand.IntN(2)]
		want[e]++
		log.Add(Request{Endpoint: e})
	}
	all := log.List(RequestFilter{})
	if len(all.Requests) != maxRequests || all.Requests[0].Seq != more+1 {
		t.Errorf("%d requests from number %d", len(all.Requests), all.Requests[0].Seq)
	}
	if all.Counts["claim"] != want["claim"] || all.Counts["list"] != want["list"] {
		t.Errorf("counts %v, want %v", all.Counts, want)
	}
	last := log.List(RequestFilter{Endpoint: "claim", After: maxRequests})
	for _, r := range last.Requests {
		if r.Endpoint != "claim" || r.Seq <= maxRequests {
			t.Errorf("request %+v passed the filter", r)
		}
	}
}
