// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"errors"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// Operations of sandboxd.
const (
	opClaim   = "claim"
	opRelease = "release"
	opList    = "list"
	opGet     = "get"
	opInfo    = "info"
)

func operationValues() []string { return []string{opClaim, opRelease, opList, opGet, opInfo} }

// What virtual-kubelet asks for a Pod.
const (
	verbCreate = "create"
	verbUpdate = "update"
	verbDelete = "delete"
)

func verbValues() []string { return []string{verbCreate, verbUpdate, verbDelete} }

// Results.
const (
	resultSuccess      = "success"
	resultNoCapacity   = "no_capacity"
	resultInvalid      = "invalid"
	resultUnauthorized = "unauthorized"
	resultNotFound     = "not_found"
	resultUnavailable  = "unavailable"
	resultUnreachable  = "unreachable"
	resultCanceled     = "canceled"
	resultError        = "error"
)

func resultValues() []string {
	return []string{
		resultSuccess, resultNoCapacity, resultInvalid, resultUnauthorized, resultNotFound,
		resultUnavailable, resultUnreachable, resultCanceled, resultError,
	}
}

// resultOf is the class of a failed sandboxd call, or "error" for an error
// that is none.
func resultOf(err error) string {
	switch {
	case err == nil:
		return resultSuccess
	case errors.Is(err, context.Canceled):
		return resultCanceled
	}
	switch sandboxd.ClassOf(err) {
	case sandboxd.NoCapacity:
		return resultNoCapacity
	case sandboxd.Invalid:
		return resultInvalid
	case sandboxd.Unauthorized:
		return resultUnauthorized
	case sandboxd.NotFound:
		return resultNotFound
	case sandboxd.Unavailable:
		return resultUnavailable
	case sandboxd.Unreachable:
		return resultUnreachable
	default:
		return resultError
	}
}

func outcomeValues() []string { return []string{resultSuccess, resultError} }

func outcomeOf(err error) string {
	if err != nil {
		return resultError
	}
	return resultSuccess
}

// Verdicts on an owner.
const (
	verdictRelease  = "release"
	verdictPreserve = "preserve"
)

// causeValues are the causes of pkg/ownership.
func causeValues() []string { return texts(ownership.Causes()) }

// verdictOf is the verdict that a cause leads to.
func verdictOf(cause string) string {
	if ownership.Cause(cause).Releases() {
		return verdictRelease
	}
	return verdictPreserve
}

// Object is an object about this node that the daemon publishes.
type Object string

// The objects that are published.
const (
	NodeInventory   Object = "NodeInventory"
	NodeClaimStatus Object = "NodeClaimStatus"
)

func objectValues() []string { return texts([]Object{NodeInventory, NodeClaimStatus}) }

func stateValues() []string {
	return texts([]claims.State{claims.Tentative, claims.Bound, claims.Preserved, claims.Quarantined, claims.Releasing})
}

func findingValues() []string { return texts(sandboxes.Findings()) }

// queueStatus is the provider's queue of statuses to publish.
const queueStatus = "status_publish"

func queueValues() []string { return append(texts(virtualnode.Queues()), queueStatus) }

// texts is each value as text.
func texts[T ~string](values []T) []string {
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}
