// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package keymutex

import (
	"testing"
	"testing/synctest"
)

func TestKeyMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var keys KeyMutex
		unlock := keys.Lock("ns/a")
		if _, ok := keys.TryLock("ns/a"); ok {
			t.Error("a locked key was locked again")
		}
		other, ok := keys.TryLock("ns/b")
		if !ok {
			t.Fatal("another key could not be locked")
		}
		other()
		var order []string
		go func() {
			defer keys.Lock("ns/a")()
			order = append(order, "second")
		}()
		synctest.Wait()
		order = append(order, "first")
		unlock()
		synctest.Wait()
		if len(order) != 2 || order[0] != "first" {
			t.Errorf("order = %v", order)
		}
		again, ok := keys.TryLock("ns/a")
		if !ok {
			t.Fatal("an unlocked key could not be locked")
		}
		again()
		if len(keys.locks) > 0 {
			t.Errorf("%d unused locks are kept", len(keys.locks))
		}
	})
}
