// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

// Cause is the kind of state that a [Decision] rests on: one of the constants
// below, fit for a metric's label.
type Cause string

// The causes that release.
const (
	// Gone: the API server says that there is no such object.
	Gone Cause = "gone"
	// Replaced: the name belongs to an object with another UID.
	Replaced Cause = "replaced"
	// Deleting: the object is being deleted.
	Deleting Cause = "deleting"
	// Expired: the object is a Sandbox whose time is over.
	Expired Cause = "expired"
)

// The causes that preserve.
const (
	// Alive: the object exists and may want its sandbox.
	Alive Cause = "alive"
	// Unverifiable: an answer came, and it says nothing about the object.
	Unverifiable Cause = "unverifiable"
	// Unreadable: the query failed.
	Unreadable Cause = "unreadable"
)

// Causes returns every cause.
func Causes() []Cause {
	return []Cause{Gone, Replaced, Deleting, Expired, Alive, Unverifiable, Unreadable}
}

// Releases reports whether the cause authorises the release.
func (c Cause) Releases() bool {
	switch c {
	case Gone, Replaced, Deleting, Expired:
		return true
	default:
		return false
	}
}
