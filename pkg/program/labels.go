// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Labels is a flag value of labels: key=value pairs separated by commas. A later value
// replaces an earlier one.
type Labels map[string]string

// Set implements pflag.Value.
func (l *Labels) Set(text string) error {
	parsed := Labels{}
	if text == "" {
		*l = parsed
		return nil
	}
	for _, pair := range strings.Split(text, ",") {
		key, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		if !found {
			return fmt.Errorf("%q is not key=value", pair)
		}
		if err := Joined(validation.IsQualifiedName(key)); err != nil {
			return fmt.Errorf("label key %q: %w", key, err)
		}
		if err := Joined(validation.IsValidLabelValue(value)); err != nil {
			return fmt.Errorf("value %q of label %s: %w", value, key, err)
		}
		if other, twice := parsed[key]; twice && other != value {
			return fmt.Errorf("label %s is given twice, as %q and %q", key, other, value)
		}
		parsed[key] = value
	}
	*l = parsed
	return nil
}

// String implements pflag.Value.
func (l *Labels) String() string { return labels.Set(*l).String() }

// Type implements pflag.Value.
func (l *Labels) Type() string { return "key=value,..." }

// Joined joins the problems found by apimachinery's validation into one error; nil if
// there are none.
func Joined(problems []string) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "; "))
}
