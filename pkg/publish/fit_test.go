// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	items := []string{"a", "bb", "ccc"} // 3, 4 and 5 bytes as JSON
	empty, err := sizeOf([]string{})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]int{empty: 0, empty + 2: 0, empty + 3: 1, empty + 7: 1, empty + 8: 2, empty + 13: 2, empty + 14: 3, 100: 3} {
		n, err := Fit([]string{}, items, limit)
		if err != nil || n != want {
			t.Errorf("%d items fit into %d bytes (%v), want %d", n, limit, err, want)
		}
		if size, _ := sizeOf(items[:n]); size > limit {
			t.Errorf("%d items are %d bytes, over the limit of %d", n, size, limit)
		}
	}
}

func TestFitFails(t *testing.T) {
	if _, err := Fit([]string{}, []string{"a"}, 1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("an object of 2 bytes in 1: error %v", err)
	}
	if _, err := Fit(make(chan int), []string{}, 100); err == nil || errors.Is(err, ErrTooLarge) {
		t.Errorf("an object that is no JSON: error %v", err)
	}
	if _, err := Fit([]string{}, []any{1, make(chan int)}, 100); err == nil || !strings.Contains(err.Error(), "item 1") {
		t.Errorf("an item that is no JSON: error %v", err)
	}
}
