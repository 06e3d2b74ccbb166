// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// State is whether the table may be used here.
type State string

const (
	// Unknown: the cluster's identity has not been read yet.
	Unknown State = "Unknown"
	// Accepted: the table belongs here.
	Accepted State = "Accepted"
	// OtherCluster: the table belongs to another cluster.
	OtherCluster State = "OtherCluster"
	// OtherHost: the table belongs to this cluster, and to another host.
	OtherHost State = "OtherHost"
)

// Status is a State and the two places behind it. It is comparable, and its JSON is the
// report beside the table.
type Status struct {
	State State `json:"state"`
	// Recorded is the table's place.
	Recorded claims.Place `json:"recorded,omitzero"`
	// Present is the place where the daemon runs.
	Present claims.Place `json:"present,omitzero"`
}

// Mismatch reports whether the table belongs elsewhere.
func (s Status) Mismatch() bool { return s.State == OtherCluster || s.State == OtherHost }

// String describes the status in a sentence.
func (s Status) String() string {
	switch s.State {
	case Accepted:
		return "the claims table belongs to this cluster and host"
	case OtherCluster:
		return fmt.Sprintf("the claims table belongs to cluster %s, and this is cluster %s; nothing is claimed, released or published",
			named(string(s.Recorded.Cluster)), named(string(s.Present.Cluster)))
	case OtherHost:
		return fmt.Sprintf("the claims table belongs to host %s, and this is host %s; nothing is claimed, released or published",
			named(s.Recorded.Host), named(s.Present.Host))
	default:
		return "the cluster's identity has not been read yet; nothing is claimed, released or published"
	}
}

// Condition reports whether the table may be used here. Its texts change only with the
// state.
func (s Status) Condition() metav1.Condition {
	c := metav1.Condition{
		Type: api.ConditionClaimsTableAccepted, Status: metav1.ConditionFalse, Reason: string(s.State), Message: s.String(),
	}
	switch s.State {
	case Accepted:
		c.Status, c.Reason = metav1.ConditionTrue, "TableBelongsHere"
	case Unknown:
		c.Status, c.Reason = metav1.ConditionUnknown, "NotReadYet"
	}
	return c
}

func named(id string) string { return cmp.Or(id, "unknown") }

// compare decides whether a table of the recorded place may be used at the present one.
// An unknown part on either side is no mismatch: an older build recorded nothing, and a
// host may have no machine id. The cluster is always known here.
func compare(recorded, present claims.Place) State {
	switch {
	case recorded.Cluster != "" && recorded.Cluster != present.Cluster:
		return OtherCluster
	case recorded.Host != "" && present.Host != "" && recorded.Host != present.Host:
		return OtherHost
	default:
		return Accepted
	}
}

// merge returns the place to record once the present one is accepted. An unknown host
// does not erase the recorded one.
func merge(recorded, present claims.Place) claims.Place {
	return claims.Place{Cluster: present.Cluster, Host: cmp.Or(present.Host, recorded.Host)}
}
