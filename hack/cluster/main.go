// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/image"
)

const usage = `usage: cluster COMMAND [FLAGS]

  up          start the cluster, or what of it does not run
  down        end it and take back all that was done to the machine
  status      show components, their health, and the hosts
  load-image  make an image from a static program and give it to every host
  exec        run a program on a host
  env         print shell settings for using the cluster

Environment:
  CLUSTER                 "local" (the default) or "kind"
  KIND_NODE_IMAGE         image of the nodes of a new kind cluster; the default is kind's own choice
  VK_SANDBOX_CLUSTER_DIR  state folder; the default is .cluster in the repository

Run "cluster COMMAND -h" for a command's flags.
`

// driver is a way of running a cluster.
type driver interface {
	Up(context.Context, cluster.Options) error
	Down(context.Context) error
	Status(context.Context, io.Writer) error
	LoadImage(context.Context, image.Spec) error
	Exec(ctx context.Context, host string, argv []string) (exitCode int, err error)
}

// init keeps the main goroutine on the main thread, so that no goroutine that
// changes its thread's namespaces gets it: the process would seem to be where
// its main thread is.
func init() { runtime.LockOSThread() }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	code, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context, args []string) (exitCode int, err error) {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2, nil
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:])
		}
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		fmt.Print(usage)
		return 0, nil
	}
	return 2, fmt.Errorf("unknown command %q\n\n%s", args[0], usage)
}

// folders returns the state folder and the source folder of this module.
func folders() (state, source string, err error) {
	source, err = sourceFolder()
	if err != nil {
		return "", "", err
	}
	state = os.Getenv("VK_SANDBOX_CLUSTER_DIR")
	if state == "" {
		state = filepath.Join(filepath.Dir(filepath.Dir(source)), ".cluster")
	}
	state, err = filepath.Abs(state)
	return state, source, err
}

// sourceFolder finds the folder of this module, from the current folder up.
func sourceFolder() (string, error) {
	current, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := current; ; folder = filepath.Dir(folder) {
		for _, candidate := range []string{folder, filepath.Join(folder, "hack", "cluster")} {
			if _, err := os.Stat(filepath.Join(candidate, "kubernetes", "go.mod")); err == nil {
				return candidate, nil
			}
		}
		if folder == filepath.Dir(folder) {
			return "", errors.New("the current folder " + current + " is not in the repository; run this from there")
		}
	}
}
