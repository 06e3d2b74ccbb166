// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package binding gives a Pod its claim: the one that it holds, one that another Pod of
// its owner left, or a new one. It also ends Pods whose sandbox is gone.
//
// Callers hold the lock of the Pod's key, except for methods documented to take the lock
// themselves.
package binding

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Client is the part of sandboxd's API that a Binder uses.
type Client interface {
	Claim(context.Context, sandboxd.ClaimRequest) (sandboxd.Claim, error)
	Get(ctx context.Context, id string) (sandboxd.Sandbox, error)
}

// Index answers whether a sandbox is gone.
type Index interface {
	ConfirmGone(context.Context, claims.Claim) (bool, error)
	RowExpendable(c claims.Claim, now time.Time) bool
}

// Releases destroys sandboxes.
type Releases interface {
	Destroy(context.Context, claims.Claim) (gone bool, err error)
	Forget(context.Context, claims.Claim)
	Enqueue(context.Context, claims.Claim)
	Wake()
}

// OwnerCheck reads the owners of claims that no Pod holds.
type OwnerCheck interface {
	// Cancel ends the checks of the claim under a key.
	Cancel(key string)
	// Displaced records that a Pod of another owner takes the claim's name.
	Displaced(claims.Claim)
}

// Statuses publishes the statuses of Pods.
type Statuses interface {
	Enqueue(key string)
}

// Config configures a Binder. Every field is required.
type Config struct {
	Table      *claims.Table
	Client     Client
	Index      Index
	Releases   Releases
	OwnerCheck OwnerCheck
	Pods       *pods.Manager
	Statuses   Statuses
	Events     *events.Recorder
	// PodsSynced reports whether the Pod cache has seen a complete list.
	PodsSynced func() bool
}

// Binder binds Pods to claims. It is safe for concurrent use.
type Binder struct {
	table      *claims.Table
	client     Client
	index      Index
	releases   Releases
	ownerCheck OwnerCheck
	pods       *pods.Manager
	statuses   Statuses
	events     *events.Recorder
	podsSynced func() bool
	capacity   capacityGate
}

// New returns a Binder.
func New(c Config) *Binder {
	return &Binder{
		table: c.Table, client: c.Client, index: c.Index, releases: c.Releases, ownerCheck: c.OwnerCheck,
		pods: c.Pods, statuses: c.Statuses, events: c.Events, podsSynced: c.PodsSynced,
	}
}

var (
	// ErrAwaitingNode means that sandboxd has to say whether the Pod still has its
	// sandbox, and has not answered.
	ErrAwaitingNode = errors.New("waiting for sandboxd to report whether it still holds the sandbox")

	errKeptForOther = errors.New("the sandbox that this pod's claim-id annotation names is kept for another owner; delete that owner or this pod")
	errNoCredential = errors.New("the node still runs a sandbox for this pod, but its claims table does not hold the release credential; restore the table, or delete the sandbox on the node")
)

// NotDurable wraps an error of the claims table for the Pod's event.
func NotDurable(err error) error {
	return fmt.Errorf("the claims table could not be written; free space or fix the permissions of the state directory: %w", err)
}

// ownerName names an owner in a log line.
func ownerName(o *claims.Owner) string {
	if o == nil {
		return "none"
	}
	return o.Kind + "/" + o.Name + " " + string(o.UID)
}
