// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Owner identifies the controller owner of a Pod, in the Pod's namespace.
type Owner struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	UID        types.UID `json:"uid"`
}

// SameOwner reports whether both are the same owner, or no owner.
func SameOwner(a, b *Owner) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Holder is the Pod that holds, or asks for, a claim.
type Holder struct {
	PodUID types.UID
	// Controller is the Pod's controller owner; nil for a bare Pod.
	Controller *Owner
	// RandomName is true if the controller makes each of its Pods under a new random
	// name, and this Pod has such a name: no later Pod will have it.
	RandomName bool
}

// authority is the UID that allows a Pod to adopt a claim: that of its controller owner,
// or its own for a bare Pod.
func (h Holder) authority() types.UID {
	if h.Controller != nil {
		return h.Controller.UID
	}
	return h.PodUID
}

// Row is the stored part of a claim. It is a value: a change replaces it.
type Row struct {
	// ID is sandboxd's claim id.
	ID string
	// Token authorises the release.
	Token sandboxd.Token
	// Address is the host:port that serves the sandbox.
	Address string
	// PodUID is the Pod that holds the claim.
	PodUID types.UID
	// Authority is the UID of whoever else may adopt it; empty in tables from older
	// builds.
	Authority types.UID
	// PastPods are the last Pods that held the claim before PodUID, the newest last, at
	// most [maxPastPods]. One of them comes back when the API server is restored from an
	// older backup.
	PastPods []types.UID
	// ClaimedAt is when the claim was taken.
	ClaimedAt time.Time
	// Deadline is the cached end of the lease; zero when it is not known.
	Deadline time.Time
	// LeaseMovedAt is when sandboxd first listed another end of the lease; zero if it has
	// not.
	LeaseMovedAt time.Time
	// WarnedOf is the end of the lease that was warned of last.
	WarnedOf time.Time
	// Owner is set while the Pod is gone but its controller owner is not.
	Owner *Owner
	// Controller is the holder's controller owner from the moment of the claim, so that a
	// Pod that vanished unseen gets the same verdict as one whose deletion was seen. Nil
	// for a bare Pod, and in tables from older builds.
	Controller *Owner
	// RandomName is that of the holder; false in tables from older builds.
	RandomName bool
	// PodDeletedAt is when the deletion of the Pod was seen. It is zero while the Pod
	// holds the claim, and if nobody saw the deletion.
	PodDeletedAt time.Time

	// Unknown has the fields that another build stored with the row. They are written
	// back unchanged.
	Unknown map[string]json.RawMessage `json:"-"`
}

// NewRow is the row of a claim that sandboxd has just delivered to holder.
func NewRow(c sandboxd.Claim, holder Holder, at time.Time) Row {
	return Row{
		ID: c.ID, Token: c.Token, Address: c.OwnerAddr, Deadline: c.Deadline,
		PodUID: holder.PodUID, Authority: holder.authority(), Controller: holder.Controller, RandomName: holder.RandomName,
		ClaimedAt: at.UTC().Truncate(time.Second),
	}
}

// maxPastPods bounds the row of a claim whose Pod is replaced often.
const maxPastPods = 8

// heldBy returns the row with h as its holder.
func (r Row) heldBy(h Holder) Row {
	if r.PodUID != h.PodUID {
		past := append(slices.Clone(r.PastPods), r.PodUID)
		r.PastPods = past[max(0, len(past)-maxPastPods):]
	}
	r.PodUID, r.Authority, r.Controller, r.RandomName = h.PodUID, h.authority(), h.Controller, h.RandomName
	r.Owner, r.PodDeletedAt = nil, time.Time{}
	return r
}

// AdoptableBy reports whether a Pod of the same name may take over the claim. It may if
// it holds the claim or held it before, or if it has the claim's authority; while Owner
// is set, the authority is that owner. Any Pod of the same name may adopt a row of an
// older build, which has neither.
func (r Row) AdoptableBy(h Holder) bool {
	switch {
	case r.PodUID == h.PodUID, slices.Contains(r.PastPods, h.PodUID):
		return true
	case r.Owner != nil:
		return h.Controller != nil && h.Controller.UID == r.Owner.UID
	case r.Authority != "":
		return h.authority() == r.Authority
	default:
		return true
	}
}

// HeldBy reports whether the row already records h as its holder, in full.
func (r Row) HeldBy(h Holder) bool {
	return r.PodUID == h.PodUID && r.ControlledAs(h) && r.Owner == nil
}

// ControlledAs reports whether the row has the controller of h, and whether its Pods have
// random names.
func (r Row) ControlledAs(h Holder) bool {
	return SameOwner(r.Controller, h.Controller) && r.Authority == h.authority() && r.RandomName == h.RandomName
}

// MaxLease is the longest lease of an ordinary claim, from the moment of the claim. It is
// assumed if sandboxd names no deadline.
const MaxLease = 24 * time.Hour

// LeaseEnd is when the lease ends: the cached deadline, or the end of the longest lease
// if there is none.
func (r Row) LeaseEnd() time.Time {
	if r.Deadline.IsZero() {
		return r.ClaimedAt.Add(MaxLease)
	}
	return r.Deadline
}

// WarningTime is how long before its end a lease is warned of: ahead, or a quarter of a
// lease that is shorter than four times that.
func (r Row) WarningTime(ahead time.Duration) time.Duration {
	began := r.ClaimedAt
	if r.LeaseMovedAt.After(began) {
		began = r.LeaseMovedAt
	}
	return min(ahead, r.LeaseEnd().Sub(began)/4)
}

// LeaseEnding reports whether the cached lease has not ended and ends within its
// WarningTime.
func (r Row) LeaseEnding(ahead time.Duration, now time.Time) bool {
	left := r.LeaseEnd().Sub(now)
	return left > 0 && left <= r.WarningTime(ahead)
}

// Expired reports whether the cached lease has passed. The cache is not authoritative:
// only sandboxd confirms that the sandbox is gone.
func (r Row) Expired(now time.Time) bool { return !now.Before(r.LeaseEnd()) }

// ConfirmedState is the state of a stored row once sandboxd has listed its sandbox.
func (r Row) ConfirmedState() State {
	if r.Owner != nil {
		return Preserved
	}
	return Bound
}

// storable returns t in UTC, or the zero time, which means unknown, if its year has no
// RFC 3339 form. Go parses offsets that it refuses to write, so a decoded time cannot
// always be encoded.
func storable(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// State is the stage of a claim between sandboxd's answer and the release.
type State string

const (
	// Tentative: sandboxd answered, and the claim is not in the file yet. It is neither
	// shown nor adopted, but can be released.
	Tentative State = "tentative"
	// Bound: held by a live Pod.
	Bound State = "bound"
	// Preserved: its Pod is gone, its owner still exists.
	Preserved State = "preserved"
	// Quarantined: loaded at start, and sandboxd has not listed its sandbox yet. It can
	// be released, but is neither adopted nor shown as Running.
	Quarantined State = "quarantined"
	// Releasing: removed from its pod key for good, waiting for sandboxd to confirm that
	// its sandbox is gone.
	Releasing State = "releasing"
)

// Claim is one claim of the table at the moment it was read.
type Claim struct {
	// Key is the Pod key, <namespace>/<name>; for a Releasing claim, the key
	// it was removed from.
	Key string
	Row
	State State
	// Durable is true if the file has this sandbox under the key with PodUID as its
	// holder. It is false after a failed write of another holder, until a write has
	// landed.
	Durable bool
}

// Unadoptable reports whether the Pod is gone, and no later Pod of its owner will have the
// name that it would need to adopt the claim. A name that several Pods had is not random.
func (c Claim) Unadoptable() bool {
	return c.State == Preserved && c.Owner != nil && c.RandomName && len(c.PastPods) == 0
}
