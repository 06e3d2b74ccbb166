// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Runner runs a program to its end and returns what it printed. Input, if not
// empty, is the program's standard input.
type Runner func(ctx context.Context, input, program string, args ...string) (string, error)

// Command is the Runner that runs programs.
func Command(ctx context.Context, input, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	// Kind uses Docker where it is, unless it is told to use another engine.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "KIND_EXPERIMENTAL_PROVIDER=") })
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", &commandError{line: program + " " + strings.Join(args, " "), said: strings.TrimSpace(stderr.String()), err: err}
	}
	return stdout.String(), nil
}

// commandError is the failure of a program, with what it said about it.
type commandError struct {
	line, said string
	err        error
}

func (e *commandError) Error() string { return fmt.Sprintf("%s: %v: %s", e.line, e.err, e.said) }

func (e *commandError) Unwrap() error { return e.err }

// reason is the part of a failure that fits into a table: what a program said
// last.
func reason(err error) string {
	text := err.Error()
	var failed *commandError
	if errors.As(err, &failed) && failed.said != "" {
		text = failed.said
	}
	return text[strings.LastIndex(text, "\n")+1:]
}
