// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrTooLarge is returned for an object that is larger than the limit without any
// item.
var ErrTooLarge = errors.New("the object is too large with an empty list")

// Fit returns how many of the items, from the first on, fit into an object of at
// most limit bytes of JSON. The object is given with an empty list of items.
// The error is [ErrTooLarge], or about what cannot be encoded.
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

// sizeOf is the number of bytes that an object has as JSON.
func sizeOf(object any) (int, error) {
	b, err := json.Marshal(object)
	return len(b), err
}
