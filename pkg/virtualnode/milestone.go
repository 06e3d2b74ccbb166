// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import "sync"

// milestone is passed once and for all.
type milestone struct {
	once sync.Once
	done chan struct{}
}

func newMilestone() *milestone { return &milestone{done: make(chan struct{})} }

func (m *milestone) pass() { m.once.Do(func() { close(m.done) }) }
