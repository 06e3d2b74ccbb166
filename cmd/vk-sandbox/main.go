// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command vk-sandbox is the node agent: one virtual node per host, whose Pods
// are claims on the host's sandboxd. It is driven by flags and environment
// variables alone (configuration); --help lists them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // the daemon could not start or go on
	exitUsage = 2 // a flag or an environment variable is wrong
)

func main() {
	os.Exit(execute(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// execute is the whole program but for the process: it returns the exit code.
func execute(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		switch args[0] {
		case commandClaims:
			return executeClaims(args[1:], getenv, stdout, stderr)
		case commandApprove:
			return executeApprove(args[1:], getenv, stdout, stderr)
		case commandCheck:
			return executeCheck(args[1:], getenv, stdout, stderr)
		}
	}
	// First of all: before this, a signal ends PID 1 with the code of a wrong flag.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// From the first signal on, a second one kills.
	context.AfterFunc(ctx, stop)

	o, err := parse(args, getenv)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "vk-sandbox: %v\nvk-sandbox --help lists the flags and their environment variables.\n", err)
		return exitUsage
	case o.help:
		fmt.Fprint(stdout, usage())
		return exitOK
	case o.version:
		fmt.Fprintln(stdout, buildVersion())
		return exitOK
	}
	if err := setupLogging(o.logLevel, o.logFormat, stderr); err != nil {
		fmt.Fprintf(stderr, "vk-sandbox: %v\n", err)
		return exitError
	}
	defer klog.Flush()

	klog.FromContext(ctx).Info("Starting", "version", buildVersion(), "node", o.nodeName)
	err = run(ctx, o, getenv)
	if err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		klog.FromContext(ctx).Error(err, "Stopped")
		return exitError
	}
	klog.FromContext(ctx).Info("Stopped on request")
	return exitOK
}
