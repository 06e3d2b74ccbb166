// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// indexRow is a [Sandbox] that is decoded field by field: a readable id counts even if
// another field cannot be read.
type indexRow struct{ Sandbox }

// UnmarshalJSON implements json.Unmarshaler. It never fails, because an error would
// discard the other rows of the index too. The ID is empty if the row has no readable
// one.
func (r *indexRow) UnmarshalJSON(raw []byte) error {
	var fields struct {
		ID         json.RawMessage `json:"id"`
		Key        json.RawMessage `json:"key"`
		Deadline   json.RawMessage `json:"deadline"`
		Hibernated json.RawMessage `json:"hibernated"`
		Archived   json.RawMessage `json:"archived"`
		ClaimRef   json.RawMessage `json:"claim_ref"`
		ClaimedAt  json.RawMessage `json:"claimed_at"`
	}
	r.Sandbox = Sandbox{} // a list field that occurs twice is decoded into the same rows
	if json.Unmarshal(raw, &fields) != nil || !readField(fields.ID, &r.ID) {
		r.Sandbox = Sandbox{}
		return nil
	}
	for _, read := range []bool{
		readField(fields.Key, &r.Key),
		readTime(fields.Deadline, &r.Deadline),
		readField(fields.Hibernated, &r.Hibernated),
		readField(fields.Archived, &r.Archived),
		readField(fields.ClaimRef, &r.ClaimRef),
		readTime(fields.ClaimedAt, &r.ClaimedAt),
	} {
		if !read {
			r.Malformed = true
		}
	}
	return nil
}

// readField decodes one field into to. If the field has another type, to keeps its zero
// value and readField returns false. A missing or null field is not malformed.
func readField[T any](raw json.RawMessage, to *T) bool {
	if raw == nil {
		return true
	}
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	*to = v
	return true
}

// readTime is readField for a time, which it makes encodable.
func readTime(raw json.RawMessage, to *time.Time) bool {
	var v time.Time
	if !readField(raw, &v) {
		return false
	}
	var fits bool
	*to, fits = encodable(v)
	return fits
}

// encodable returns t in UTC, or the zero time and false if it cannot be encoded: Go
// parses RFC 3339 offsets that it refuses to write, and an offset can move a time out of
// the years 0 to 9999.
func encodable(t time.Time) (time.Time, bool) {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// malformedRows keeps the ids of malformed rows, so that each is logged once when it
// becomes malformed, not at every request.
type malformedRows struct {
	mu  sync.Mutex
	ids map[string]bool
}

// listed records a complete listing, which replaces everything recorded before.
func (m *malformedRows) listed(ctx context.Context, rows []Sandbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.ids
	m.ids = nil
	for _, s := range rows {
		if s.Malformed {
			m.add(ctx, s.ID, before[s.ID])
		}
	}
}

// read records the row of one id; the zero Sandbox if there is none.
func (m *malformedRows) read(ctx context.Context, id string, s Sandbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Malformed {
		m.add(ctx, id, m.ids[id])
	} else {
		delete(m.ids, id)
	}
}

// add records an id. The caller holds mu. The row's content is not logged, because it is
// remote text.
func (m *malformedRows) add(ctx context.Context, id string, known bool) {
	if m.ids == nil {
		m.ids = map[string]bool{}
	}
	m.ids[id] = true
	if !known {
		klog.FromContext(ctx).Info("sandboxd's index has a row with a malformed field; the sandbox counts as present and the field as unknown", "sandbox", id)
	}
}
