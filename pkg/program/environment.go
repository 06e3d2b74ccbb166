// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// Origins maps a flag to the environment variable that its value came from.
type Origins map[string]string

// Of names a flag, and the variable that its value came from, if any.
func (o Origins) Of(flag string) string {
	if variable := o[flag]; variable != "" {
		return "--" + flag + " (from " + variable + ")"
	}
	return "--" + flag
}

// ReadEnvironment sets each flag that was not given on the command line to the value of
// its environment variable. An empty variable counts as unset, like a line without a
// value in an EnvironmentFile. The error names every variable whose value is invalid.
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

// Validation collects errors about the values of flags.
type Validation struct {
	Origins Origins
	errs    []error
}

// Check records err, if not nil, about a flag's value.
func (v *Validation) Check(flag, value string, err error) {
	if err != nil {
		v.errs = append(v.errs, invalidValue(value, v.Origins.Of(flag), err))
	}
}

// Fail records an error about a flag without printing its value, which may be secret or
// not at fault alone.
func (v *Validation) Fail(flag string, err error) {
	v.errs = append(v.errs, fmt.Errorf("%s: %w", v.Origins.Of(flag), err))
}

// Err returns all recorded errors, or nil.
func (v *Validation) Err() error { return errors.Join(v.errs...) }

func invalidValue(value, origin string, err error) error {
	return fmt.Errorf("invalid value %q of %s: %w", value, origin, err)
}

// flagError rewords pflag's error about a value like an error about a variable.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	f := invalid.GetFlag()
	return invalidValue(invalid.GetValue(), Origins{}.Of(f.Name), wanted(f, invalid.Unwrap()))
}

// wanted names the accepted values if the parser's error does not.
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
