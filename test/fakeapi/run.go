// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

// Run starts a publisher. It returns the publisher's log and a function that ends it.
func Run(t *testing.T, run func(context.Context) error) (logs ktesting.Buffer, stop func()) {
	t.Helper()
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true), ktesting.Verbosity(0)))
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
	ended := make(chan error)
	go func() { ended <- run(ctx) }()
	return logger.GetSink().(ktesting.Underlier).GetBuffer(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v, want nil at the end of its context", err)
		}
	}
}

// Messages returns the logged lines, with the error's text.
func Messages(logs ktesting.Buffer) []string {
	var out []string
	for _, e := range logs.Data() {
		line := e.Message
		if e.Err != nil {
			line += ": " + e.Err.Error()
		}
		out = append(out, line)
	}
	return out
}

// Pass lets time pass and waits until the publisher is idle. Call it inside a synctest
// bubble.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
