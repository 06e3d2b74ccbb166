// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

// Cause is the state of the owner behind a [Decision]: one of the constants below. It is
// used as a metric label.
type Cause string

// Causes that release.
const (
	// Gone: the API server confirmed that there is no such object.
	Gone Cause = "gone"
	// Replaced: the name belongs to an object with another UID.
	Replaced Cause = "replaced"
	// Deleting: the object is being deleted.
	Deleting Cause = "deleting"
	// Expired: the object is a Sandbox that has expired.
	Expired Cause = "expired"
)

// Causes that preserve.
const (
	// Alive: the object exists and may want its sandbox.
	Alive Cause = "alive"
	// Unverifiable: the answer does not identify the object.
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
