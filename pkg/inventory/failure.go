// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// step is the part of a cycle that failed.
type step string

const (
	stepList  step = "list the node's sandboxes"
	stepInfo  step = "read the node's pools"
	stepNode  step = "read the Node"
	stepBuild step = "build the inventory"
	stepApply step = "apply the inventory"
)

// failure is why a cycle published nothing.
type failure struct {
	step step
	err  error
}

func failed(s step, err error) error { return &failure{step: s, err: err} }

func (f *failure) Error() string {
	if hint := f.hint(); hint != "" {
		return fmt.Sprintf("%s: %v (%s)", f.step, f.err, hint)
	}
	return fmt.Sprintf("%s: %v", f.step, f.err)
}

func (f *failure) Unwrap() error { return f.err }

// kind tells states apart for the log. It is coarser than the text, which may
// name a port or a request that is new every time.
func (f *failure) kind() string {
	return string(f.step) + "/" + string(apierrors.ReasonForError(f.err))
}

// hint says what to do where the API server's own words do not.
func (f *failure) hint() string {
	switch {
	case f.step == stepNode && apierrors.IsNotFound(f.err):
		return "the virtual node is not registered yet; the next cycle looks again"
	case f.step == stepNode && apierrors.IsForbidden(f.err):
		return "the service account needs get on nodes"
	case f.step == stepApply && apierrors.IsNotFound(f.err):
		return "install the NodeInventory CRD, or turn --publish-inventory off"
	case f.step == stepApply && apierrors.IsForbidden(f.err):
		return "the service account needs create and patch on nodeinventories"
	case f.step == stepApply && strings.Contains(f.err.Error(), "field not declared in schema"):
		return "the installed NodeInventory CRD is of another version; install the one of this release"
	}
	return ""
}
