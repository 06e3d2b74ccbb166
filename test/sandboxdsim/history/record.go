// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package history

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

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
)

// Record has every event there ever was. Where there is a state directory, it appends them to a file of JSON lines.
type Record struct {
	clock  clock.PassiveClock
	logger klog.Logger
	file   *os.File

	// answering is read-held from writing a claim's answer to recording how that went. Whoever adds another
	// event or reads the history waits for it, so that nothing a client does with its answer comes before it.
	answering sync.RWMutex

	mu       sync.Mutex
	events   []Event
	ids      map[string]bool
	counters Counters
}

// OpenRecord loads the events of the state directory, if the configuration names one.
func OpenRecord(cfg config.Config) (*Record, error) {
	r := &Record{clock: cfg.Clock, logger: cfg.Logger, ids: map[string]bool{}}
	r.counters.DestroyedBy = map[Actor]int{}
	if cfg.StateDir == "" {
		return r, nil
	}
	path := filepath.Join(cfg.StateDir, "history.jsonl")
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
func (r *Record) replay(path string) error {
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

// Add keeps an event, after the answers that are being written.
func (r *Record) Add(e Event) {
	r.answering.Lock()
	defer r.answering.Unlock()
	r.keep(e)
}

// Answer writes a claim's answer and keeps the event that write returns. It takes the lock of the answers before it
// calls unlock, so that nothing which the client does with its answer comes before the event.
func (r *Record) Answer(unlock func(), write func() Event) {
	r.answering.RLock()
	defer r.answering.RUnlock()
	unlock()
	r.keep(write())
}

// keep completes the event with its number and time.
func (r *Record) keep(e Event) {
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
		r.logger.Error(err, "The record on disk lacks an event; after a restart of the process the history will too", "event", e)
	}
}

func (r *Record) count(e Event) {
	r.events = append(r.events, e)
	r.counters.add(e)
	if e.Type == EventMade {
		r.ids[e.Sandbox] = true
	}
}

// Empty reports whether nothing has ever happened.
func (r *Record) Empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events) == 0
}

// Events returns the events that pass the filter, and the counters of all.
func (r *Record) Events(f Filter) ([]Event, Counters) {
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

// Knows reports whether there ever was a VM of that id.
func (r *Record) Knows(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ids[id]
}

// Close closes the file.
func (r *Record) Close() error {
	r.answering.Lock()
	defer r.answering.Unlock()
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
