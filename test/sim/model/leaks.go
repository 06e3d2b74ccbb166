// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"sync"

	"github.com/cocoonstack/vk-sandbox/test/secretscan"
)

// headLen is the length of the prefix that is searched for. It is long enough to rule
// out chance matches.
const headLen = 12

// Leaks searches everything that leaves the daemon for the credentials that were
// handed out. The zero value is ready.
type Leaks struct {
	mu    sync.Mutex
	ids   map[string]bool // sandboxes whose credential was handed out
	heads map[string]bool // prefixes of the credentials in every encoding
	found []string
}

// Look searches text for credentials. Its cost does not grow with their number.
func (l *Leaks) Look(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; i+headLen <= len(text); i++ {
		if l.heads[string(text[i:i+headLen])] {
			l.found = append(l.found, string(text))
			return
		}
	}
}

// HandedOut records that the daemon received a sandbox's token.
func (l *Leaks) HandedOut(id, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]bool{}
	}
	l.ids[id] = true
	l.Learn(token)
}

// Learn adds a credential to search for. The caller holds mu or is the only user.
func (l *Leaks) Learn(credential string) {
	if l.heads == nil {
		l.heads = map[string]bool{}
	}
	for _, form := range secretscan.Forms(credential) {
		l.heads[form[:headLen]] = true
	}
}

// delivered returns the sandboxes whose credentials reached the daemon.
func (l *Leaks) delivered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for id := range l.ids {
		out = append(out, id)
	}
	return out
}
