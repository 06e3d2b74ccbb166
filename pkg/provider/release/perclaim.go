// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"maps"
	"sync"
)

// perClaim has a value for some claims, by Pod key or sandbox id. The zero value is ready.
// An embedding type holds mu for its own fields too, and while it uses values directly.
type perClaim[V any] struct {
	mu     sync.Mutex
	values map[string]V
}

// put sets the value of a claim. The caller holds mu.
func (p *perClaim[V]) put(name string, value V) {
	if p.values == nil {
		p.values = map[string]V{}
	}
	p.values[name] = value
}

func (p *perClaim[V]) set(name string, value V) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.put(name, value)
}

func (p *perClaim[V]) get(name string) (value V, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, known = p.values[name]
	return value, known
}

// forget drops the value of a claim that needs it no more.
func (p *perClaim[V]) forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.values, name)
}

// prune drops the values of all claims but the wanted ones.
func (p *perClaim[V]) prune(wanted func(name string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.values, func(name string, _ V) bool { return !wanted(name) })
}
