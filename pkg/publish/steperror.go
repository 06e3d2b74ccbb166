// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// StepError is a failed publication: the failed step, and a hint if the API server's text
// does not explain what to do.
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

// Unwrap returns the error of the step.
func (f *StepError) Unwrap() error { return f.err }

// classOf returns the class of a failure for the log. It is coarser than the text, which
// may contain a port or a request that changes every time.
func classOf(err error) string {
	f := (*StepError)(nil)
	if !errors.As(err, &f) {
		return err.Error()
	}
	return f.step + "/" + string(apierrors.ReasonForError(f.err))
}
