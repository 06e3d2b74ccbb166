// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// StepError is why a publication did not happen: the step that failed, and what to
// do where the API server's own words do not say.
type StepError struct {
	step, hint string
	err        error
}

// Failed returns a [*StepError]. The hint may be empty.
func Failed(step string, err error, hint string) error {
	return &StepError{step: step, hint: hint, err: err}
}

// Error implements error.
func (f *StepError) Error() string {
	if f.hint != "" {
		return fmt.Sprintf("%s: %v (%s)", f.step, f.err, f.hint)
	}
	return fmt.Sprintf("%s: %v", f.step, f.err)
}

// Unwrap returns what the step failed with.
func (f *StepError) Unwrap() error { return f.err }

// Kind tells failures apart for the log. It is coarser than the text, which may
// name a port or a request that is new every time.
func Kind(err error) string {
	f := (*StepError)(nil)
	if !errors.As(err, &f) {
		return err.Error()
	}
	return f.step + "/" + string(apierrors.ReasonForError(f.err))
}

// nodeFailure is the failure to find the virtual node's Node object.
func nodeFailure(err error) error {
	hint := ""
	if apierrors.IsNotFound(err) {
		hint = "the virtual node is not registered yet; the next cycle looks again"
	}
	return Failed("look up the Node", err, hint)
}

// Resource is what hints say about a kind of object.
type Resource struct {
	// Kind and Plural are its names: NodeInventory, nodeinventories.
	Kind, Plural string
	// Off is how its publication is turned off.
	Off string
}

// ApplyFailure is the failure of a step that applies an object of the resource.
func (r Resource) ApplyFailure(step string, err error) error {
	hint := ""
	switch {
	case apierrors.IsNotFound(err):
		hint = fmt.Sprintf("install the %s CRD, or turn %s", r.Kind, r.Off)
	case apierrors.IsForbidden(err):
		hint = fmt.Sprintf("the service account needs create and patch on %s", r.Plural)
	case strings.Contains(err.Error(), undeclared):
		hint = fmt.Sprintf("the installed %s CRD is of another version; install the one of this release", r.Kind)
	}
	return Failed(step, err, hint)
}

// undeclared is how an API server names a field that its CRD does not have.
const undeclared = "field not declared in schema"
