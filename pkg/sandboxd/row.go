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

// indexRow is a [Sandbox] that is decoded field by field: the row says that its
// id exists even when another field cannot be read.
type indexRow struct{ Sandbox }

// UnmarshalJSON implements json.Unmarshaler. It never fails, because an error
// here would discard the other rows of the index too. The ID is empty when the
// row has none that can be read.
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
	r.Sandbox = Sandbox{} // a list that is given twice is decoded into the same rows
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

// readField decodes one field into to, and leaves to at its zero value when the
// field has another type. A field that is missing or null is not malformed.
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

// readTime is readField for a time, which it brings into a form that can be
// encoded again.
func readTime(raw json.RawMessage, to *time.Time) bool {
	var v time.Time
	if !readField(raw, &v) {
		return false
	}
	var fits bool
	*to, fits = encodable(v)
	return fits
}

// encodable returns t in UTC. RFC 3339 in Go reads offsets that it refuses to
// write, and an offset can move a time out of the years 0 to 9999; for such a
// time it returns the zero time and false.
func encodable(t time.Time) (time.Time, bool) {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// malformedRows remembers which ids have a row that cannot be read whole, so
// that each is logged when it becomes malformed and not at every request.
type malformedRows struct {
	mu  sync.Mutex
	ids map[string]bool
}

// listed records a whole listing, which replaces all that was remembered.
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

// read records the row of one id; the zero Sandbox when there is none.
func (m *malformedRows) read(ctx context.Context, id string, s Sandbox) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.Malformed {
		m.add(ctx, id, m.ids[id])
	} else {
		delete(m.ids, id)
	}
}

// add remembers an id. The caller holds mu. The row's content stays out of the
// log: whatever is wrong with it, it is text from elsewhere.
func (m *malformedRows) add(ctx context.Context, id string, known bool) {
	if m.ids == nil {
		m.ids = map[string]bool{}
	}
	m.ids[id] = true
	if !known {
		klog.FromContext(ctx).Info("sandboxd's index has a row with a malformed field; the sandbox counts as present and the field as unknown", "sandbox", id)
	}
}
