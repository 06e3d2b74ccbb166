// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// record is the ground truth: every event there ever was, appended to a file of JSON lines where
// there is a state directory.
type record struct {
	clock  clock.PassiveClock
	logger klog.Logger
	file   *os.File

	// answering is read-held from writing a claim's answer to recording how that went. Whoever adds another
	// event or reads the truth waits for it, so that nothing a client does with its answer comes before it.
	answering sync.RWMutex

	mu       sync.Mutex
	events   []Event
	ids      map[string]bool
	counters Counters
}

func openRecord(cfg Config) (*record, error) {
	r := &record{clock: cfg.Clock, logger: cfg.Logger, ids: map[string]bool{}}
	r.counters.DestroyedBy = map[Actor]int{}
	if cfg.StateDir == "" {
		return r, nil
	}
	path := filepath.Join(cfg.StateDir, "truth.jsonl")
	if err := r.replay(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the record: %w", err)
	}
	r.file = f
	return r, nil
}

// replay reads what an earlier process recorded, and cuts off a last line that it did not finish.
func (r *record) replay(path string) error {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the record: %w", err)
	}
	whole := bytes.LastIndexByte(b, '\n') + 1
	for line := range bytes.Lines(b[:whole]) {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("record %s is damaged; remove the state directory to start afresh: %w", path, err)
		}
		r.count(e)
	}
	return os.Truncate(path, int64(whole))
}

// add keeps an event, after the answers that are being written.
func (r *record) add(e Event) {
	r.answering.Lock()
	defer r.answering.Unlock()
	r.keep(e)
}

// keep completes the event with its number and time.
func (r *record) keep(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e.Seq, e.Time = int64(len(r.events))+1, r.clock.Now().UTC()
	r.count(e)
	r.logger.V(1).Info("State changed", "event", e)
	if r.file == nil {
		return
	}
	b, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(b, '\n'))
	}
	if err != nil {
		r.logger.Error(err, "The record on disk lacks an event; after a restart of the process the truth will too", "event", e)
	}
}

func (r *record) count(e Event) {
	r.events = append(r.events, e)
	r.counters.add(e)
	if e.Type == EventMade {
		r.ids[e.Sandbox] = true
	}
}

func (r *record) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events) == 0
}

// snapshot copies the events that pass the filter, and the counters of all.
func (r *record) snapshot(f EventFilter) ([]Event, Counters) {
	r.answering.Lock()
	defer r.answering.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := []Event{}
	for _, e := range r.events {
		if f.matches(e) {
			events = append(events, e)
		}
	}
	c := r.counters
	c.DestroyedBy = maps.Clone(c.DestroyedBy)
	return events, c
}

// knows tells whether there ever was a VM of that id.
func (r *record) knows(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

func (r *record) close() error {
	r.answering.Lock()
	defer r.answering.Unlock()
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
