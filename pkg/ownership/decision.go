// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Decision is a verdict and why it was reached. The zero Decision preserves.
type Decision struct {
	// Release is true when destroying the sandbox is authorised.
	Release bool
	// Cause is the kind of state that was read.
	Cause Cause
	// Reason is constant text for one kind of cause, fit for a log line.
	Reason string
	// Err is the failed query behind a Decision that preserves for want of an
	// answer; nil when the answer itself says to preserve.
	Err error
}

// Missing reports whether the Decision releases because the object is not there,
// rather than for what it says of itself.
func (d Decision) Missing() bool { return d.Release && d.Cause != Deleting && d.Cause != Expired }

// Attrs is the Decision as key and value pairs for a log line.
func (d Decision) Attrs() []any {
	if d.Err == nil {
		return []any{"reason", d.Reason}
	}
	return []any{"reason", d.Reason, "err", d.Err}
}

func release(cause Cause, reason string) Decision {
	return Decision{Release: true, Cause: cause, Reason: reason}
}
func preserve(reason string) Decision { return Decision{Cause: Alive, Reason: reason} }
func unknown(cause Cause, reason string, err error) Decision {
	return Decision{Cause: cause, Reason: reason, Err: err}
}

// judge reads the outcome of getting the object name, which the reference knew
// under uid.
func judge(what, name string, uid types.UID, obj metav1.Object, err error) Decision {
	switch {
	case confirmedAbsent(err, name):
		return release(Gone, what+" is gone")
	case apierrors.IsNotFound(err):
		return unknown(Unverifiable, what+" could not be verified: the 404 does not name it", err)
	case err != nil:
		return unknown(Unreadable, what+" could not be read", err)
	case obj.GetName() != name || obj.GetUID() == "":
		return unknown(Unverifiable, what+" could not be verified: the answer is not that object", errOtherAnswer)
	case uid == "":
		return unknown(Unverifiable, what+" could not be verified: the reference has no UID", errNoUID)
	case obj.GetUID() != uid:
		return release(Replaced, what+" was replaced: the referenced generation is gone")
	case obj.GetDeletionTimestamp() != nil:
		return release(Deleting, what+" is being deleted")
	default:
		return preserve(what + " is alive")
	}
}

// Answers and references that identify nothing give no authority: that a UID
// differs says something only when there are two.
var (
	errOtherAnswer = errors.New("the answer has another name, or no UID")
	errNoUID       = errors.New("no UID was recorded")
)

// confirmedAbsent reports whether err is the API server's own word that the
// named object does not exist. A 404 from a missing endpoint or from a proxy
// carries no name, or one that client-go filled in from the request; the
// latter is marked as an unexpected response.
func confirmedAbsent(err error, name string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	s := status.Status()
	if s.Reason != metav1.StatusReasonNotFound || s.Details == nil || s.Details.Name != name {
		return false
	}
	return !slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool {
		return c.Type == metav1.CauseTypeUnexpectedServerResponse
	})
}

// expired reports whether a live Sandbox says, about its present generation,
// that its time is over: the operator has then torn the workload down, and no
// replacement Pod comes. A suspended Sandbox says nothing of
// the kind, and a condition about an older generation has no authority.
func expired(obj *unstructured.Unstructured) bool {
	if gvk := obj.GroupVersionKind(); gvk.Group != sandboxGroup || gvk.Kind != sandboxKind {
		return false
	}
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, raw := range conditions {
		c, ok := raw.(map[string]any)
		if !ok || c["type"] != "Ready" {
			continue
		}
		observed, given, err := unstructured.NestedInt64(c, "observedGeneration")
		current := err == nil && (!given || observed == obj.GetGeneration())
		return current && c["status"] == "False" && c["reason"] == reasonSandboxExpired
	}
	return false
}

const (
	sandboxGroup         = "agents.x-k8s.io"
	sandboxKind          = "Sandbox"
	reasonSandboxExpired = "SandboxExpired"
)
