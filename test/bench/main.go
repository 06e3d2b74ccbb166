// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
)

// options are the flags.
type options struct {
	pods    int
	rounds  int
	daemons int
	rest    time.Duration
	only    []string

	programs subject.Programs
	out      string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	r := results.New(rows(o))
	if err := measureAll(ctx, o, r); err != nil {
		return err
	}
	if len(o.only) > 0 {
		r.OmitUnmeasured()
	}
	if err := r.Complete(); err != nil {
		return err
	}
	if err := r.Print(os.Stdout); err != nil {
		return err
	}
	return r.Save(o.out)
}

func parse(args []string) (*options, error) {
	o := &options{}
	fs := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	fs.IntVar(&o.pods, "pods", 1000, "Pods of the large burst; the other counts follow from it")
	fs.IntVar(&o.rounds, "rounds", 3, "rounds; each has every measurement once")
	fs.IntVar(&o.daemons, "daemons", 100, "daemons that start in the same second")
	fs.DurationVar(&o.rest, "rest", time.Minute, "how long the daemon is watched at rest")
	fs.StringSliceVar(&o.only, "only", nil, "what is measured, all by default: "+strings.Join(measurementNames(), ", "))
	fs.StringVar(&o.programs.Daemon, "daemon", "bin/vk-sandbox", "the daemon's program, stripped")
	fs.StringVar(&o.programs.Kwok, "kwok", "bin/kwok", "KWOK's program")
	fs.StringVar(&o.programs.KwokStages, "kwok-stages", "", "kustomize/stage of KWOK's module")
	fs.StringVar(&o.out, "out", "bench.json", "file for the figures of each round")
	fs.StringVar(&o.programs.Logs, "logs", "", "folder for the logs of both subjects; they are dropped without one")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 || o.pods < 10 || o.rounds < 1 || o.daemons < 1 || o.rest <= 0 {
		return nil, errors.New("want no arguments but flags, at least 10 Pods, and every other number above zero")
	}
	for _, name := range o.only {
		if !slices.Contains(measurementNames(), name) {
			return nil, fmt.Errorf("--only: there is no measurement %q; they are %s", name, strings.Join(measurementNames(), ", "))
		}
	}
	return o, nil
}
