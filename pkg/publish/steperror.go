// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"

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

// classOf tells failures apart for the log. It is coarser than the text, which may
// name a port or a request that is new every time.
func classOf(err error) string {
	f := (*StepError)(nil)
	if !errors.As(err, &f) {
		return err.Error()
	}
	return f.step + "/" + string(apierrors.ReasonForError(f.err))
}
