// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"slices"
	"strings"
)

// keyed is the claims by pod key, and in the order of keys that the file and every
// list have. The order is kept, because every write needs it. The zero value is
// ready.
type keyed struct {
	byKey   map[string]*entry
	ordered []*entry
}

func (k *keyed) get(key string) (entry, bool) {
	if e := k.byKey[key]; e != nil {
		return *e, true
	}
	return entry{}, false
}

// set stores a claim under its key.
func (k *keyed) set(e entry) {
	if held := k.byKey[e.Key]; held != nil {
		*held = e
		return
	}
	if k.byKey == nil {
		k.byKey = map[string]*entry{}
	}
	k.byKey[e.Key] = &e
	i, _ := k.find(e.Key)
	k.ordered = slices.Insert(k.ordered, i, &e)
}

func (k *keyed) remove(key string) {
	if i, there := k.find(key); there {
		k.ordered = slices.Delete(k.ordered, i, i+1)
		delete(k.byKey, key)
	}
}

func (k *keyed) find(key string) (int, bool) {
	return slices.BinarySearchFunc(k.ordered, key, func(e *entry, key string) int { return strings.Compare(e.Key, key) })
}
