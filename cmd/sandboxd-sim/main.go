// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sandboxd-sim runs the simulated sandboxd of test/sandboxdsim as a program.
//
// It serves the sandboxd API on one address or more, and the control API, which asks for no token, on another. The
// README beside this file shows both.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], func([]net.Listener, net.Listener) {})
	klog.Flush()
	switch {
	case errors.Is(err, pflag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "sandboxd-sim:", err)
		stop()
		os.Exit(1)
	}
}
