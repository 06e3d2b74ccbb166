// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrTooLarge means that an object exceeds the limit even without items.
var ErrTooLarge = errors.New("the object is too large with an empty list")

// Fit returns how many of the first items fit into an object of at most limit bytes of
// JSON. object must have an empty list of items. It returns [ErrTooLarge], or an encoding
// error.
func Fit[T any](object any, items []T, limit int) (int, error) {
	size, err := sizeOf(object)
	if err != nil {
		return 0, fmt.Errorf("encode the object: %w", err)
	}
	if size > limit {
		return 0, fmt.Errorf("%w: %d bytes, and the limit is %d", ErrTooLarge, size, limit)
	}
	for i, item := range items {
		n, err := sizeOf(item)
		if err != nil {
			return 0, fmt.Errorf("encode item %d: %w", i, err)
		}
		if i > 0 {
			size += len(",")
		}
		if size += n; size > limit {
			return i, nil
		}
	}
	return len(items), nil
}

// sizeOf is the size of an object as JSON, in bytes.
func sizeOf(object any) (int, error) {
	b, err := json.Marshal(object)
	return len(b), err
}
