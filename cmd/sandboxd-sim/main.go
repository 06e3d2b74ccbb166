// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sandboxd-sim runs the simulated sandboxd of test/sandboxdsim as a program.
//
// It serves the sandboxd API on one or more addresses, and the control API, which
// requires no token, on another. The README beside this file shows both.
package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := program.Run(ctx, newCommand(func([]net.Listener, net.Listener) {}), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// newCommand returns the program's command, which calls ready when every listener is
// open. control is nil if the control API is disabled.
func newCommand(ready func(api []net.Listener, control net.Listener)) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:  "sandboxd-sim",
		Long: "sandboxd-sim simulates sandboxd without microVMs, for demos, tests and benchmarks.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.UnexpectedArguments(args, ": everything is set by flags"); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return program.UsageError(err)
			}
			return run(cmd.Context(), &o, ready)
		},
	}
	program.AddFlags(cmd, o.flags(), nil)
	return cmd
}
