// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Origins has, by flag, the environment variable that the flag's value came from.
type Origins map[string]string

// Of names a flag, and where its value came from if that is a variable.
func (o Origins) Of(flag string) string {
	if variable := o[flag]; variable != "" {
		return "--" + flag + " (from " + variable + ")"
	}
	return "--" + flag
}

// ReadEnvironment sets each flag that was not given on the command line to the value of
// its environment variable. A variable that is empty counts as unset, as a line without a
// value in an EnvironmentFile means it. The error names every variable that no value can
// be read from.
func ReadEnvironment(flags *pflag.FlagSet, variables map[string]string, getenv func(string) string) (Origins, error) {
	origins := Origins{}
	var errs []error
	flags.VisitAll(func(f *pflag.Flag) {
		variable := variables[f.Name]
		if variable == "" || f.Changed {
			return
		}
		text := getenv(variable)
		if text == "" {
			return
		}
		origins[f.Name] = variable
		if err := f.Value.Set(text); err != nil {
			errs = append(errs, invalidValue(text, origins.Of(f.Name), wanted(f, err)))
		}
	})
	return origins, errors.Join(errs...)
}

// Validation collects what is wrong with the values of flags.
type Validation struct {
	Origins Origins
	errs    []error
}

// Check notes that a flag's value is invalid if err is not nil.
func (v *Validation) Check(flag, value string, err error) {
	if err != nil {
		v.errs = append(v.errs, invalidValue(value, v.Origins.Of(flag), err))
	}
}

// Fail notes what is wrong with a flag beside others, or with a value that must not be
// printed.
func (v *Validation) Fail(flag string, err error) {
	v.errs = append(v.errs, fmt.Errorf("%s: %w", v.Origins.Of(flag), err))
}

// Err returns everything that is wrong, or nil.
func (v *Validation) Err() error { return errors.Join(v.errs...) }

func invalidValue(value, origin string, err error) error {
	return fmt.Errorf("invalid value %q of %s: %w", value, origin, err)
}

// flagError words pflag's error about a value as those of variables are worded.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	return invalidValue(invalid.GetValue(), Origins{}.Of(f.Name), wanted(f, invalid.Unwrap()))
}

// wanted says what a flag takes where the parser only says what it does not take.
func wanted(f *pflag.Flag, err error) error {
	switch f.Value.Type() {
	case "quantity":
		return errors.New("want a Kubernetes quantity such as 4000, 500m or 8Ti")
	case "ip":
		return errors.New("want an IP address such as 192.0.2.7 or 2001:db8::7")
	default:
		return err
	}
}
