// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd

import (
	"context"
	"sync"

	"k8s.io/klog/v2"
)

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
