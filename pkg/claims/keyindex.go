// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"slices"
	"strings"
)

// keyIndex has the claims by pod key and in key order. The order is maintained because
// every write needs it. The zero value is ready.
type keyIndex struct {
	byKey   map[string]*entry
	ordered []*entry
	ids     map[string]int // how many claims have the sandbox
}

func (k *keyIndex) get(key string) (entry, bool) {
	if e := k.byKey[key]; e != nil {
		return *e, true
	}
	return entry{}, false
}

// set stores a claim under its key.
func (k *keyIndex) set(e entry) {
	if k.byKey == nil {
		k.byKey, k.ids = map[string]*entry{}, map[string]int{}
	}
	k.ids[e.ID]++
	if held := k.byKey[e.Key]; held != nil {
		k.dropID(held.ID)
		*held = e
		return
	}
	k.byKey[e.Key] = &e
	i, _ := k.find(e.Key)
	k.ordered = slices.Insert(k.ordered, i, &e)
}

func (k *keyIndex) remove(key string) {
	if i, there := k.find(key); there {
		k.dropID(k.ordered[i].ID)
		k.ordered = slices.Delete(k.ordered, i, i+1)
		delete(k.byKey, key)
	}
}

// holders is the number of claims that have the sandbox.
func (k *keyIndex) holders(id string) int { return k.ids[id] }

func (k *keyIndex) dropID(id string) {
	if k.ids[id]--; k.ids[id] == 0 {
		delete(k.ids, id)
	}
}

func (k *keyIndex) find(key string) (int, bool) {
	return slices.BinarySearchFunc(k.ordered, key, func(e *entry, key string) int { return strings.Compare(e.Key, key) })
}
