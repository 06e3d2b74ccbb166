// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package goroutinemap

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
)

func TestMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(2)
		gates := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}
		ended := map[string]*atomic.Int32{"a": {}, "b": {}, "c": {}}
		start := func(name string, want bool) {
			t.Helper()
			if got := m.Start(name, func() { <-gates[name]; ended[name].Add(1) }); got != want {
				t.Errorf("start of %s: %t, want %t", name, got, want)
			}
		}
		start("a", true)
		start("a", false) // it is running
		start("b", true)
		start("c", false) // as many run as may
		close(gates["b"])
		synctest.Wait()
		start("c", true) // a hangs and delays nobody
		close(gates["c"])
		synctest.Wait()
		start("c", true) // it has ended
		close(gates["a"])
		m.Wait()
		for name, want := range map[string]int32{"a": 1, "b": 1, "c": 2} {
			if got := ended[name].Load(); got != want {
				t.Errorf("%s ended %d times, want %d", name, got, want)
			}
		}
		if len(m.running) > 0 {
			t.Errorf("%d names are still kept", len(m.running))
		}
	})
}
