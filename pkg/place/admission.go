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

// admission decides whether the daemon may use the table. It remembers what it logged, so
// that a daemon waiting for days logs changes only.
type admission struct {
	guard    *Guard
	reported Status          // the mismatch that was logged
	filed    Status          // the mismatch in the file beside the table
	logged   map[string]bool // the kinds of errors that were logged
}

// pause is how long to wait after a failed attempt.
func (a *admission) pause() time.Duration {
	if a.reported.Mismatch() {
		return approvalEvery
	}
	return retryEvery
}

// try compares the places once, and reports whether the table is accepted here.
func (a *admission) try(ctx context.Context) bool {
	g, log := a.guard, klog.FromContext(ctx)
	uid, err := g.read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.logOnce(ctx, "read "+string(apierrors.ReasonForError(err)), err, "Waiting for the cluster's identity; nothing is claimed, released or published before it is read")
		}
		return false
	}
	recorded, present := g.config.Table.Place(), claims.Place{Cluster: uid, Host: g.config.Host}
	s := Status{State: compare(recorded, present), Recorded: recorded, Present: present}
	approved := false
	if s.Mismatch() {
		a.report(ctx, s)
		if approved = a.approved(ctx, s); !approved {
			return false
		}
	}
	place := merge(recorded, present)
	if place != recorded {
		if err := g.config.Table.SetPlace(place); err != nil {
			a.logOnce(ctx, "record", err, "The place of the claims table cannot be recorded; free space or fix the permissions of the state directory")
			return false
		}
	}
	g.setStatus(Status{State: Accepted, Recorded: place, Present: present})
	log.Info("The claims table belongs here", "cluster", place.Cluster, "host", place.Host, "recorded", place != recorded, "approved", approved)
	// Files of an earlier mismatch would be misleading from now on.
	for _, err := range []error{g.removeReport(), approval.Remove(g.config.FS, g.config.StatePath, approval.Place)} {
		if err != nil {
			log.Error(err, "A file beside the claims table is out of date; remove it")
		}
	}
	return true
}

// report logs a mismatch and writes it to the file beside the table, once until it
// changes.
func (a *admission) report(ctx context.Context, s Status) {
	g := a.guard
	if s != a.filed {
		if err := g.writeReport(s); err != nil {
			a.logOnce(ctx, "report", err, "The mismatch cannot be written beside the claims table, where vk-sandbox approve reads it")
		} else {
			a.filed = s
		}
	}
	if s == a.reported {
		return
	}
	a.reported = s
	g.setStatus(s)
	klog.FromContext(ctx).Info("The claims table belongs elsewhere; nothing is claimed, released or published",
		"state", s.State, "recordedCluster", s.Recorded.Cluster, "recordedHost", s.Recorded.Host,
		"cluster", s.Present.Cluster, "host", s.Present.Host, "accept", g.config.ApproveCommand)
}

// approved reports whether the operator has accepted exactly this mismatch. An approval
// of another mismatch is removed, so that it cannot take effect much later.
func (a *admission) approved(ctx context.Context, s Status) bool {
	fsys, path := a.guard.config.FS, a.guard.config.StatePath
	given, found, err := approval.Read(fsys, path, approval.Place)
	if err != nil {
		a.logOnce(ctx, "approval "+err.Error(), err, "An approval is there and cannot be used")
		return false
	}
	if !found {
		return false
	}
	if given.Recorded == s.Recorded && given.Present == s.Present {
		return true
	}
	klog.FromContext(ctx).Info("An approval is for another place, and is dropped; give it again",
		"cluster", given.Present.Cluster, "host", given.Present.Host, "accept", a.guard.config.ApproveCommand)
	if err := approval.Remove(fsys, path, approval.Place); err != nil {
		a.logOnce(ctx, "approval "+err.Error(), err, "An approval that does not apply cannot be removed")
	}
	return false
}

// logOnce logs one error of each kind.
func (a *admission) logOnce(ctx context.Context, kind string, err error, message string) {
	if !a.logged[kind] {
		a.logged[kind] = true
		klog.FromContext(ctx).Error(err, message)
	}
}
