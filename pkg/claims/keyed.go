// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"iter"
	"slices"
)

// keyed is the claims by pod key, in the order of keys that the file and every
// list have. The order is kept, because every write needs it.
type keyed struct {
	entries map[string]entry
	keys    []string
}

func (k *keyed) get(key string) (entry, bool) {
	e, ok := k.entries[key]
	return e, ok
}

// set stores a claim under its key.
func (k *keyed) set(e entry) {
	if i, taken := slices.BinarySearch(k.keys, e.Key); !taken {
		k.keys = slices.Insert(k.keys, i, e.Key)
	}
	k.entries[e.Key] = e
}

func (k *keyed) remove(key string) {
	if i, there := slices.BinarySearch(k.keys, key); there {
		k.keys = slices.Delete(k.keys, i, i+1)
	}
	delete(k.entries, key)
}

// all yields every claim, in order. Claims may be set meanwhile under keys that
// are taken, and under no other.
func (k *keyed) all() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, key := range k.keys {
			if !yield(k.entries[key]) {
				return
			}
		}
	}
}
