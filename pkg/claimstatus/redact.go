// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// Length limits of the schema, in characters.
const (
	maxName = 512 // names of Pods and owners, apiVersions and addresses
	maxWord = 256 // ids, kinds and texts
	maxUID  = 128
)

// Redact returns the publishable part of a claim: everything but its credential, for
// which the row has no field. Texts are cut to the schema's limits.
func Redact(c claims.Claim, waitingFor string) api.NodeClaim {
	row := api.NodeClaim{
		Pod:        cut(c.Key, maxName),
		ID:         cut(c.ID, maxWord),
		State:      stateOf(c.State),
		PodUID:     cutUID(c.PodUID),
		Address:    cut(c.Address, maxName),
		ClaimedAt:  timeOf(c.ClaimedAt),
		Deadline:   timeOf(c.Deadline),
		WaitingFor: cut(waitingFor, maxWord),

		Unadoptable: c.Unadoptable(),
	}
	owner := c.Owner
	if owner == nil {
		owner = c.Controller
	}
	if owner != nil {
		row.Owner = &api.ClaimOwner{
			APIVersion: cut(owner.APIVersion, maxName),
			Kind:       cut(owner.Kind, maxWord),
			Name:       cut(owner.Name, maxName),
			UID:        cutUID(owner.UID),
		}
	}
	return row
}

func stateOf(s claims.State) api.ClaimState {
	switch s {
	case claims.Bound:
		return api.ClaimBound
	case claims.Preserved:
		return api.ClaimPreserved
	case claims.Quarantined:
		return api.ClaimQuarantined
	case claims.Releasing:
		return api.ClaimReleasing
	default:
		return api.ClaimTentative
	}
}

// cut returns at most the first limit characters of a text, as valid UTF-8.
func cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit])
}

func cutUID(uid types.UID) types.UID { return types.UID(cut(string(uid), maxUID)) }

// timeOf is the time in whole seconds, as an API server stores it; nil if it is not
// known.
func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t.UTC().Truncate(time.Second))
	return &out
}
