// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakes

import (
	"context"
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
)

// Owners has the state of each owner and each bare Pod, by UID. An unknown one is gone.
type Owners struct {
	mu     sync.Mutex
	states map[types.UID]ownership.Cause
	Reads  []types.UID // the UIDs that were read, in order
}

// Set changes the state of owners.
func (o *Owners) Set(cause ownership.Cause, uids ...types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.states == nil {
		o.states = map[types.UID]ownership.Cause{}
	}
	for _, uid := range uids {
		o.states[uid] = cause
	}
}

func (o *Owners) read(uid types.UID) ownership.Decision {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Reads = append(o.Reads, uid)
	cause, known := o.states[uid]
	if !known {
		cause = ownership.Gone
	}
	d := ownership.Decision{Release: cause.Releases(), Cause: cause, Reason: "the owner is " + string(cause)}
	if cause == ownership.Unreadable {
		d.Err = errors.New("no answer")
	}
	return d
}

// Owner reads a controller owner.
func (o *Owners) Owner(_ context.Context, _ string, owner claims.Owner) ownership.Decision {
	return o.read(owner.UID)
}

// Pod reads a bare Pod.
func (o *Owners) Pod(_ context.Context, _, _ string, uid types.UID) ownership.Decision {
	return o.read(uid)
}
