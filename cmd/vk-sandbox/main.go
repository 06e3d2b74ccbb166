// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command vk-sandbox is the node agent: one virtual node per host, whose Pods are claims
// on the host's sandboxd. It is configured by flags and environment variables only;
// --help lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const daemonHelp = `vk-sandbox serves a virtual Kubernetes node whose Pods are claims on the host's
sandboxd.

A flag wins over its environment variable. VK_LOG_LEVEL, which has no flag, is the
log level: debug, info, warn or error (default info). Kubernetes is reached with the
in-cluster configuration, or without one with the kubeconfig at $KUBECONFIG.`

// gcPercent is how much the heap may grow over the live objects before a garbage
// collection. The daemon holds thousands of Pods and uses little processor time, so it
// trades some of that for memory on its host. GOGC in the environment wins.
const gcPercent = 50

// version is set by the linker: -X main.version=v1.2.3.
var version string

func main() {
	os.Exit(execute(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// execute runs the whole program except for ending the process: it returns the exit code.
func execute(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	// This must come first: until then, a signal ends PID 1 with the exit code of a wrong
	// flag.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// After the first signal, a second one kills the process.
	context.AfterFunc(ctx, stop)
	return program.Run(ctx, newCommand(getenv, startDaemon(getenv)), args, stdout, stderr)
}

// starter runs the daemon with valid options until the command's context ends.
type starter func(cmd *cobra.Command, o *options) error

// newCommand returns the program's command. Without a subcommand it starts the daemon.
func newCommand(getenv func(string) string, start starter) *cobra.Command {
	root := newRunCommand("vk-sandbox", getenv, start)
	root.AddCommand(
		newRunCommand("run", getenv, start),
		newClaimsCommand(getenv),
		newApproveCommand(getenv),
		newCheckCommand(getenv),
		&cobra.Command{
			Use: "version", Short: "Print the build version",
			RunE: printVersion,
		},
	)
	return root
}

// newRunCommand returns the command that runs the daemon.
func newRunCommand(use string, getenv func(string) string, start starter) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use: use, Short: "Run the daemon, which is the default", Long: daemonHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.version {
				return printVersion(cmd, nil)
			}
			if err := program.UnexpectedArguments(args, ": everything is set by flags and environment variables, and the commands are "+commandNames(cmd.Root())); err != nil {
				return err
			}
			if err := o.finish(cmd.Flags(), getenv); err != nil {
				return program.UsageError(err)
			}
			return start(cmd, &o)
		},
	}
	program.AddFlags(cmd, o.flags(), variables())
	return cmd
}

// startDaemon returns the function that runs the daemon and logs how it ends.
func startDaemon(getenv func(string) string) starter {
	return func(cmd *cobra.Command, o *options) error {
		if err := program.SetupLogging(o.logLevel, o.logFormat, cmd.ErrOrStderr()); err != nil {
			return err
		}
		if getenv("GOGC") == "" {
			debug.SetGCPercent(gcPercent)
		}
		ctx := cmd.Context()
		logger := klog.FromContext(ctx)
		logger.Info("Starting", "version", buildVersion(), "node", o.nodeName)
		c, err := o.config(getenv)
		if err == nil {
			err = run(ctx, c)
		}
		if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
			logger.Error(err, "Stopped")
			return program.ErrReported
		}
		logger.Info("Stopped on request")
		return nil
	}
}

func printVersion(cmd *cobra.Command, args []string) error {
	if err := program.UnexpectedArguments(args, ""); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), buildVersion())
	return err
}

// buildVersion is the version of this build: the linker's, or else that of the module.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

func commandNames(root *cobra.Command) string {
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return strings.Join(names, ", ")
}
