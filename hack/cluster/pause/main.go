// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command pause is the sandbox container of every Pod: it holds the Pod's
// namespaces, waits for a signal to end, and reaps the processes that a shared
// PID namespace leaves to it.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

// reap collects every child that has ended. One SIGCHLD can stand for several.
func reap() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
