// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"testing/synctest"
)

func TestTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tasks := tasks{limit: 2}
		gates := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}
		ended := map[string]int{}
		start := func(name string, want bool) {
			t.Helper()
			if got := tasks.start(name, func() { <-gates[name]; ended[name]++ }); got != want {
				t.Errorf("start of %s: %t, want %t", name, got, want)
			}
		}
		start("a", true)
		start("a", false) // it is running
		start("b", true)
		start("c", false) // as many run as may
		close(gates["b"])
		synctest.Wait()
		start("c", true) // a hangs and holds up nobody
		close(gates["c"])
		synctest.Wait()
		start("c", true) // it has ended
		close(gates["a"])
		tasks.wait()
		if ended["a"] != 1 || ended["b"] != 1 || ended["c"] != 2 {
			t.Errorf("ended %v", ended)
		}
		if len(tasks.running) > 0 {
			t.Errorf("%d are still remembered", len(tasks.running))
		}
	})
}
