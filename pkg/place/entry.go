// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// entry is the way to the admission. It remembers what it logged, so that a daemon
// that waits for days logs what changes and nothing else.
type entry struct {
	guard    *Guard
	reported Status          // the mismatch that is logged
	filed    Status          // the mismatch that is in the file beside the table
	said     map[string]bool // the kinds of trouble that are logged
}

// pause is how long to wait after an attempt that failed.
func (e *entry) pause() time.Duration {
	if e.reported.Mismatch() {
		return approvalEvery
	}
	return retryEvery
}

// try looks once, and reports whether the table is accepted here.
func (e *entry) try(ctx context.Context) bool {
	g, log := e.guard, klog.FromContext(ctx)
	uid, err := g.read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			e.trouble(ctx, "read "+string(apierrors.ReasonForError(err)), err, "Waiting for the cluster's identity; nothing is claimed, released or published before it is read")
		}
		return false
	}
	recorded, present := g.config.Table.Place(), claims.Place{Cluster: uid, Host: g.config.Host}
	s := Status{State: compare(recorded, present), Recorded: recorded, Present: present}
	approved := false
	if s.Mismatch() {
		e.report(ctx, s)
		if approved = e.approved(ctx, s); !approved {
			return false
		}
	}
	place := merge(recorded, present)
	if place != recorded {
		if err := g.config.Table.SetPlace(place); err != nil {
			e.trouble(ctx, "record", err, "The place of the claims table cannot be recorded; free space or fix the permissions of the state directory")
			return false
		}
	}
	g.setStatus(Status{State: Accepted, Recorded: place, Present: present})
	log.Info("The claims table belongs here", "cluster", place.Cluster, "host", place.Host, "recorded", place != recorded, "approved", approved)
	// What is left for a mismatch would be misleading from now on.
	for _, err := range []error{g.removeReport(), approval.Remove(g.config.FS, g.config.StatePath, approval.Place)} {
		if err != nil {
			log.Error(err, "A file beside the claims table is out of date; remove it")
		}
	}
	return true
}

// report makes a mismatch known, once until it changes.
func (e *entry) report(ctx context.Context, s Status) {
	g := e.guard
	if s != e.filed {
		if err := g.writeReport(s); err != nil {
			e.trouble(ctx, "report", err, "The mismatch cannot be written beside the claims table, where vk-sandbox approve reads it")
		} else {
			e.filed = s
		}
	}
	if s == e.reported {
		return
	}
	e.reported = s
	g.setStatus(s)
	klog.FromContext(ctx).Info("The claims table belongs elsewhere; nothing is claimed, released or published",
		"state", s.State, "recordedCluster", s.Recorded.Cluster, "recordedHost", s.Recorded.Host,
		"cluster", s.Present.Cluster, "host", s.Present.Host, "accept", g.config.ApproveCommand)
}

// approved reports whether the operator has accepted this very mismatch. An approval
// of another one is removed: nobody remembers it when its time would come.
func (e *entry) approved(ctx context.Context, s Status) bool {
	fsys, path := e.guard.config.FS, e.guard.config.StatePath
	a, found, err := approval.Read(fsys, path, approval.Place)
	if err != nil {
		e.trouble(ctx, "approval "+err.Error(), err, "An approval is there and cannot be used")
		return false
	}
	if !found {
		return false
	}
	if a.Recorded == s.Recorded && a.Present == s.Present {
		return true
	}
	klog.FromContext(ctx).Info("An approval is for another place, and is dropped; give it again",
		"cluster", a.Present.Cluster, "host", a.Present.Host, "accept", e.guard.config.ApproveCommand)
	if err := approval.Remove(fsys, path, approval.Place); err != nil {
		e.trouble(ctx, "approval "+err.Error(), err, "An approval that does not apply cannot be removed")
	}
	return false
}

// trouble logs one error of each kind.
func (e *entry) trouble(ctx context.Context, kind string, err error, message string) {
	if !e.said[kind] {
		e.said[kind] = true
		klog.FromContext(ctx).Error(err, message)
	}
}
