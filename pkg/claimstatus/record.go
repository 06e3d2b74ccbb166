// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// record is what is known of the object in the cluster.
type record struct {
	// recalled is true once an earlier run's object has been looked for.
	recalled bool
	// conditions are those that were published last.
	conditions []metav1.Condition
	// last is the digest of what was published last; nil before the first time.
	last *digest
	// stored is the object as the API server had it when it last spoke of it;
	// nil when there is none, as far as is known.
	stored *api.NodeClaimStatus
	// stale is true when someone else changed fields that are ours, or deleted
	// the object.
	stale bool
	// doubtful is true when the object was seen in another form with an older
	// version. That is the late event of a write that has been overwritten
	// since, or an API server that went back to a backup; a read tells.
	doubtful bool
	// answered is true when the API server showed the object, or that there is
	// none, since the last try.
	answered bool
}

// sight is the object as the watch saw it; gone when it has been deleted.
type sight struct {
	object *api.NodeClaimStatus
	gone   bool
}

// changed reports whether a status with that digest is to be published.
func (r *record) changed(content digest) bool {
	return r.stale || r.last == nil || *r.last != content
}

// published notes what was published.
func (r *record) published(content digest, conditions []metav1.Condition) {
	r.last, r.conditions, r.stale, r.doubtful = &content, conditions, false, false
}

// observe compares the object with what the API server answered to the last
// apply, which it then shows too. Content decides; a version says only whether
// the object can be older than that answer. Labels and the like are for others
// to change.
func (r *record) observe(s sight) {
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

// confirm takes the object as a read answered it that was sent after the last
// apply; nil when there is none. It is the object as it stands, whatever its
// version.
func (r *record) confirm(object *api.NodeClaimStatus) {
	if object == nil || !r.shows(object) {
		r.stale = true
	}
	r.stored, r.doubtful = object, false
}

// shows reports whether the fields of the object that are ours are as stored.
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
