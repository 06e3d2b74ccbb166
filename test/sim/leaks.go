// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"sync"

	"github.com/cocoonstack/vk-sandbox/test/canary"
)

// headLen is how much of a credential is looked for: enough not to be met by
// chance.
const headLen = 12

// leaks knows every credential that was handed out and looks for them in what
// leaves the daemon.
type leaks struct {
	mu    sync.Mutex
	ids   map[string]bool // whose credential was handed out
	heads map[string]bool // what the forms of the credentials begin with
	found []string
}

// look searches text for credentials. Its cost does not grow with their number.
func (l *leaks) look(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := 0; i+headLen <= len(text); i++ {
		if l.heads[string(text[i:i+headLen])] {
			l.found = append(l.found, string(text))
			return
		}
	}
}

func (l *leaks) handedOut(id, token string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ids == nil {
		l.ids = map[string]bool{}
	}
	l.ids[id] = true
	l.learn(token)
}

// learn makes a credential known. The caller holds mu, or has l to itself.
func (l *leaks) learn(credential string) {
	if l.heads == nil {
		l.heads = map[string]bool{}
	}
	for _, form := range canary.Forms(credential) {
		l.heads[form[:headLen]] = true
	}
}

// delivered returns the sandboxes whose credentials reached the daemon.
func (l *leaks) delivered() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for id := range l.ids {
		out = append(out, id)
	}
	return out
}

// logText keeps what loggers write, and shows it to look.
type logText struct {
	look func([]byte)

	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.look(p)
	return l.text.Write(p)
}

// String returns what was written so far.
func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
