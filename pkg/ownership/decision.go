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

// Decision is a verdict and its reason. The zero Decision preserves.
type Decision struct {
	// Release is true if destroying the sandbox is authorised.
	Release bool
	// Cause is the state that was read.
	Cause Cause
	// Reason is a constant text for each kind of cause, for log lines.
	Reason string
	// Err is the failed query of a Decision that preserves because there was no answer;
	// nil if there was one.
	Err error
}

// Missing reports whether the Decision releases because the object does not exist, not
// because of its content.
func (d Decision) Missing() bool { return d.Release && d.Cause != Deleting && d.Cause != Expired }

// Attrs returns the Decision as key and value pairs for a log line.
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

// readVerdict decides by the result of getting the object that a reference names by name
// and uid.
func readVerdict(what, name string, uid types.UID, obj metav1.Object, err error) Decision {
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

// Answers and references that do not identify an object authorise nothing. A different
// UID counts only if both sides have one.
var (
	errOtherAnswer = errors.New("the answer has another name, or no UID")
	errNoUID       = errors.New("no UID was recorded")
)

// confirmedAbsent reports whether err is the API server's confirmation that the named
// object does not exist. A 404 of a missing endpoint or of a proxy has no name, or one
// that client-go filled in from the request and marked as an unexpected response.
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

// expired reports whether a live Sandbox has expired, by a condition of its current
// generation: the operator has then deleted the workload, and no replacement Pod is
// created. A suspended Sandbox has not expired. A condition of an older generation is
// ignored.
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
