// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"errors"
	"io/fs"
	"syscall"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// Condition reports whether the table's file has every change. Its texts change only with
// its status, and contain no path of the host.
func (w Writes) Condition() metav1.Condition {
	if w.Err != nil {
		return metav1.Condition{
			Type: api.ConditionClaimsTableDurable, Status: metav1.ConditionFalse, Reason: "WriteFailed",
			Message: "no claim is made until the claims table can be written: " + writeFailure(w.Err),
		}
	}
	return metav1.Condition{
		Type: api.ConditionClaimsTableDurable, Status: metav1.ConditionTrue, Reason: "Written",
		Message: "the claims table is on disk",
	}
}

// writeFailure returns the kind of a file system error.
func writeFailure(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "its file system is full; free space"
	case errors.Is(err, syscall.EROFS):
		return "its file system is read-only; mount it for writing"
	case errors.Is(err, fs.ErrPermission):
		return "its directory may not be written; fix its permissions"
	default:
		return "the daemon's log has the error"
	}
}
