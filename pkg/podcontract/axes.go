// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract

import (
	"fmt"
	"strconv"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// InvalidAnnotationError means that an object cannot be served with its annotations. No
// claim is made for it.
type InvalidAnnotationError struct {
	// Annotation is the key that is missing or wrong.
	Annotation string
	// Problem is what is wrong and what to write instead.
	Problem string
}

// Error implements error.
func (e *InvalidAnnotationError) Error() string {
	return fmt.Sprintf("annotation %s: %s", e.Annotation, e.Problem)
}

// PoolKey returns the pool axes in the annotations, verbatim: sandboxd decides which
// pools exist. The template has no default. Net and size may be empty, which means
// sandboxd's default. The error is an [*InvalidAnnotationError].
func PoolKey(annotations map[string]string) (sandboxd.Key, error) {
	template := annotations[AnnotationTemplate]
	if template == "" {
		return sandboxd.Key{}, &InvalidAnnotationError{AnnotationTemplate, "missing; it names the sandboxd template and has no default"}
	}
	return sandboxd.Key{Template: template, Net: annotations[AnnotationNet], Size: annotations[AnnotationSize]}, nil
}

// quote quotes an annotation's value for a message and truncates it: values can be 256
// KiB long.
func quote(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.Quote(s[:most]) + "…"
	}
	return strconv.Quote(s)
}
