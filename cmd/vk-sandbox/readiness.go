// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"sync/atomic"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/diagnostics"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// readiness is what /readyz tells. Its parts are set as they come to exist, the
// first of them after a wait for the table's lock that can be long. Whether
// sandboxd answers has no part in it: no other daemon could do better, and the
// node has a condition for that.
type readiness struct {
	table      atomic.Pointer[claims.Table]
	guard      atomic.Pointer[place.Guard]
	podsSynced atomic.Pointer[func() bool]
	registered atomic.Pointer[<-chan struct{}]
}

var (
	errTableNotLoaded  = errors.New("the claims table is not loaded; another daemon may hold its lock")
	errTableNotDurable = errors.New("the last write of the claims table failed; free space or fix the permissions of the state directory")
	errPlaceNotRead    = errors.New("the cluster's identity has not been read yet")
	errPlaceElsewhere  = errors.New("the claims table belongs to another cluster or host; vk-sandbox claims on the host says which")
	errPodsNotSynced   = errors.New("the Pods of this node have not been listed yet")
	errNotRegistered   = errors.New("the Node is not registered")
)

// checks are the named checks of /readyz.
func (r *readiness) checks() []diagnostics.Check {
	return []diagnostics.Check{
		{Name: "claims-table", Run: r.checkTable},
		{Name: "claims-table-accepted", Run: r.checkPlace},
		{Name: "pod-cache", Run: r.checkPods},
		{Name: "node-registered", Run: r.checkNode},
	}
}

func (r *readiness) checkTable() error {
	switch table := r.table.Load(); {
	case table == nil:
		return errTableNotLoaded
	case table.Writes().Err != nil:
		return errTableNotDurable
	default:
		return nil
	}
}

func (r *readiness) checkPlace() error {
	guard := r.guard.Load()
	switch {
	case guard == nil || guard.Status().State == place.Unknown:
		return errPlaceNotRead
	case guard.Status().State != place.Accepted:
		return errPlaceElsewhere
	default:
		return nil
	}
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
