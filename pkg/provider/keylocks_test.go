// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"testing/synctest"
)

func TestKeyLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var locks keyLocks
		unlock := locks.lock("ns/a")
		if _, ok := locks.tryLock("ns/a"); ok {
			t.Error("a key that is held was taken")
		}
		other, ok := locks.tryLock("ns/b")
		if !ok {
			t.Fatal("another key was not taken")
		}
		other()
		var order []string
		go func() {
			defer locks.lock("ns/a")()
			order = append(order, "second")
		}()
		synctest.Wait()
		order = append(order, "first")
		unlock()
		synctest.Wait()
		if len(order) != 2 || order[0] != "first" {
			t.Errorf("order = %v", order)
		}
		again, ok := locks.tryLock("ns/a")
		if !ok {
			t.Fatal("a key that was let go of was not taken")
		}
		again()
		if len(locks.locks) > 0 {
			t.Errorf("%d locks are kept that nobody uses", len(locks.locks))
		}
	})
}
