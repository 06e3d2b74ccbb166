// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/spf13/pflag"

// typed is a flag's value that is checked when it is set.
type typed[T any] struct {
	target *T
	kind   string
	parse  func(string) (T, error)
	text   string
}

// bind makes a flag value that writes what parse returns into target.
func bind[T any](target *T, kind string, parse func(string) (T, error)) pflag.Value {
	return &typed[T]{target: target, kind: kind, parse: parse}
}

// Set implements pflag.Value.
func (v *typed[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err != nil {
		return err
	}
	*v.target, v.text = parsed, text
	return nil
}

// String implements pflag.Value.
func (v *typed[T]) String() string { return v.text }

// Type implements pflag.Value: the word for the value in the help text.
func (v *typed[T]) Type() string { return v.kind }
