// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
)

// A condition is shown to everybody who may read the Node: it has no path.
func TestConditionOfTheWrites(t *testing.T) {
	if c := (claims.Writes{}).Condition(); c.Type != "ClaimsTableDurable" || c.Status != metav1.ConditionTrue || c.Reason != "Written" || c.Message == "" {
		t.Errorf("condition %+v", c)
	}
	for want, cause := range map[string]error{
		"is full":      syscall.ENOSPC,
		"is read-only": syscall.EROFS,
		"may not be":   fs.ErrPermission,
		"daemon's log": errors.New("anything"),
	} {
		c := claims.Writes{Err: fmt.Errorf("write /secret/path: %w", cause)}.Condition()
		if c.Type != "ClaimsTableDurable" || c.Status != metav1.ConditionFalse || c.Reason != "WriteFailed" {
			t.Errorf("condition %+v", c)
		}
		if !strings.Contains(c.Message, want) || strings.Contains(c.Message, "/secret/path") {
			t.Errorf("message %q for %v, want %q in it and no path", c.Message, cause, want)
		}
	}
}
