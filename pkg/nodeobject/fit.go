// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"encoding/json"
	"fmt"
)

// Size is the number of bytes that an object has as JSON.
func Size(object any) (int, error) {
	b, err := json.Marshal(object)
	return len(b), err
}

// Fit returns how many of the items, from the first on, an object can take that
// has size bytes with an empty list of them, if it is to stay within limit
// bytes. An error is about the item that cannot be encoded.
func Fit[T any](size int, items []T, limit int) (int, error) {
	for i, item := range items {
		n, err := Size(item)
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
