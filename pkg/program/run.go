// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package program has the common form of this project's commands: cobra commands with
// flags in named sections, environment variables for flags that are not given, errors
// that list all invalid settings together, and the same exit codes.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
)

// Exit codes.
const (
	ExitOK    = 0
	ExitError = 1 // the command could not start, go on, or do what was asked for
	ExitUsage = 2 // a flag, an environment variable or an argument is invalid
)

// ErrReported ends a command with ExitError without a message, because the error has been
// logged.
var ErrReported = errors.New("the error has been reported")

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// UsageError marks err as an error in the command line. It returns nil for nil.
func UsageError(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// UnexpectedArguments returns a usage error if there are arguments. The hint names what
// the command accepts instead.
func UnexpectedArguments(args []string, hint string) error {
	if len(args) == 0 {
		return nil
	}
	return UsageError(fmt.Errorf("unexpected argument %q%s", args[0], hint))
}

// Run executes root, or the subcommand named by args, until it returns or ctx ends, and
// returns the exit code. It prints an error to stderr after the command's name, and for a
// usage error a pointer to the help text. klog's flags and the standard library's log are
// set up as in other Kubernetes components.
func Run(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) int {
	root.SetContext(ctx)
	// cobra replaces nil by the process's own arguments.
	root.SetArgs(append([]string{}, args...))
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SilenceUsage = true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return UsageError(flagError(err)) })

	err := cli.RunNoErrOutput(root)
	if err == nil {
		return ExitOK
	}
	// An unknown command has been reported as an argument of root.
	called, _, _ := root.Find(args)
	if errors.As(err, new(usageError)) {
		fmt.Fprintf(stderr, "%s: %v\n%[1]s --help lists its settings.\n", called.CommandPath(), err)
		return ExitUsage
	}
	if !errors.Is(err, ErrReported) {
		fmt.Fprintf(stderr, "%s: %v\n", called.CommandPath(), err)
	}
	return ExitError
}
