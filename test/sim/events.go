// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// events records the daemon's events and searches them for tokens.
type events struct {
	look func([]byte)

	mu   sync.Mutex
	seen []event
}

type event struct {
	about                 corev1.ObjectReference
	kind, reason, message string
}

func (e event) String() string {
	return fmt.Sprintf("%s %s/%s %s %s: %s", e.about.Kind, e.about.Namespace, e.about.Name, e.kind, e.reason, e.message)
}

// Event implements events.Sink.
func (l *events) Event(object runtime.Object, kind, reason, message string) {
	e := event{*object.(*corev1.ObjectReference), kind, reason, message}
	l.look([]byte(e.String()))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, e)
}

// about returns the events of one kind of object, in order, as text.
func (l *events) about(kind, name string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.seen {
		if e.about.Kind == kind && e.about.Name == name {
			out = append(out, fmt.Sprintf("%s %s: %s", e.kind, e.reason, e.message))
		}
	}
	return out
}

// messages returns the distinct messages of a reason.
func (l *events) messages(reason string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.seen {
		if e.reason == reason && !slices.Contains(out, e.message) {
			out = append(out, e.message)
		}
	}
	return out
}

// logText keeps what loggers write and passes it to look.
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

// String returns everything that was written.
func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
