// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// record is the publisher's knowledge of the object in the cluster.
type record struct {
	// resumed is true once the object of an earlier run has been looked for.
	resumed bool
	// conditions are the conditions published last.
	conditions []metav1.Condition
	// last is the digest of the status published last; nil before the first time.
	last *digest
	// stored is the object in the API server's latest answer; nil if there is none, as
	// far as is known.
	stored *api.NodeClaimStatus
	// stale is true if someone else changed this publisher's fields or deleted the
	// object.
	stale bool
	// doubtful is true if the watch showed other content with an older version. Either
	// the event of an overwritten write came late, or the API server was restored from a
	// backup. A read decides.
	doubtful bool
	// answered is true if the API server has answered about the object since the last
	// try.
	answered bool
}

// observation is the object as the watch showed it; gone is true if it was deleted.
type observation struct {
	object *api.NodeClaimStatus
	gone   bool
}

// changed reports whether a status with that digest must be published.
func (r *record) changed(content digest) bool {
	return r.stale || r.last == nil || *r.last != content
}

// published records a publication.
func (r *record) published(content digest, conditions []metav1.Condition) {
	r.last, r.conditions, r.stale, r.doubtful = &content, conditions, false, false
}

// observe compares an observation with the API server's answer to the last apply, which
// the watch shows too. Content decides; the version only shows whether the observation
// can be older than that answer. Labels and other fields may be changed by others.
func (r *record) observe(s observation) {
	r.answered = true
	switch {
	case !s.gone && r.shows(s.object):
	case r.stored != nil && older(s.object, r.stored):
		r.doubtful = true
	case s.gone:
		r.stale, r.stored = true, nil
	default:
		r.stale, r.stored = true, s.object
	}
}

// confirm records the answer to a read that was sent after the last apply; nil if there
// is no object. It is the current object, whatever its version.
func (r *record) confirm(object *api.NodeClaimStatus) {
	if object == nil || !r.shows(object) {
		r.stale = true
	}
	r.stored, r.doubtful = object, false
}

// shows reports whether this publisher's fields of the object are as stored.
func (r *record) shows(object *api.NodeClaimStatus) bool {
	return r.stored != nil &&
		equality.Semantic.DeepEqual(object.Status, r.stored.Status) &&
		equality.Semantic.DeepEqual(object.OwnerReferences, r.stored.OwnerReferences)
}

// older reports whether a is from before b.
func older(a, b *api.NodeClaimStatus) bool {
	if a == nil {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(a.ResourceVersion, b.ResourceVersion)
	return err == nil && order < 0
}
