// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/diagnostics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// readiness is the state behind /readyz. Its parts are set as they are created; the first
// may have to wait long for the table's lock. sandboxd's state is not part of it: no
// other daemon could do better, and the node has a condition for it.
type readiness struct {
	table      atomic.Pointer[claims.Table]
	guard      atomic.Pointer[place.Guard]
	podsSynced atomic.Pointer[func() bool]
	registered atomic.Pointer[<-chan struct{}]
}

var (
	errTableNotLoaded = errors.New("the claims table is not loaded; another daemon may hold its lock")
	errPodsNotSynced  = errors.New("the Pods of this node have not been listed yet")
	errNotRegistered  = errors.New("the Node is not registered")
)

// checks are the named checks of /readyz.
func (r *readiness) checks() []diagnostics.Check {
	return []diagnostics.Check{
		{Name: "claims-table-durable", Run: r.checkTable},
		{Name: "claims-table-accepted", Run: r.checkPlace},
		{Name: "pod-cache", Run: r.checkPods},
		{Name: "node-registered", Run: r.checkNode},
	}
}

func (r *readiness) checkTable() error {
	table := r.table.Load()
	if table == nil {
		return errTableNotLoaded
	}
	return unlessTrue(table.Writes().Condition())
}

func (r *readiness) checkPlace() error {
	guard := r.guard.Load()
	if guard == nil {
		return unlessTrue(place.Status{State: place.Unknown}.Condition())
	}
	return unlessTrue(guard.Status().Condition())
}

// unlessTrue returns the condition's message as an error unless the condition is True.
func unlessTrue(c metav1.Condition) error {
	if c.Status == metav1.ConditionTrue {
		return nil
	}
	return errors.New(c.Message)
}

func (r *readiness) checkPods() error {
	if synced := r.podsSynced.Load(); synced == nil || !(*synced)() {
		return errPodsNotSynced
	}
	return nil
}

func (r *readiness) checkNode() error {
	registered := r.registered.Load()
	if registered == nil {
		return errNotRegistered
	}
	select {
	case <-*registered:
		return nil
	default:
		return errNotRegistered
	}
}
