// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command conformance runs the end-to-end tests of agent-sandbox on a cluster that routes
// Sandboxes to vk-sandbox, and prints what came of each test. hack/conformance.sh prepares
// the cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

type options struct {
	tests     string
	source    string
	binaries  string
	artifacts string
	parallel  int
}

func main() {
	var o options
	flag.StringVar(&o.tests, "tests", "hack/conformance/tests.yaml", "`file` that says which tests are not applicable or run alone")
	flag.StringVar(&o.source, "source", "", "`folder` of the agent-sandbox module")
	flag.StringVar(&o.binaries, "binaries", "", "`folder` of the test binaries")
	flag.StringVar(&o.artifacts, "artifacts", "", "`folder` for the tests' logs")
	flag.IntVar(&o.parallel, "parallel", 8, "`number` of tests that run at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	info, err := clusterinfo.Load(".")
	if err != nil {
		return err
	}
	p, err := loadPlan(o.tests)
	if err != nil {
		return err
	}
	var suites []suite
	for _, folder := range []string{"test/e2e", "test/e2e/extensions"} {
		s, err := loadSuite(ctx, o.source, folder, o.binaries)
		if err != nil {
			return err
		}
		suites = append(suites, s)
	}
	if err := p.check(suites); err != nil {
		return fmt.Errorf("%s: %w", o.tests, err)
	}

	started := time.Now()
	restore, err := addPools(ctx, info.Hosts, images(suites))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	together, alone := p.jobs(suites)
	results := runAll(ctx, together, o.parallel, o.artifacts)
	results = append(results, runAll(ctx, alone, 1, o.artifacts)...)
	if err := errors.Join(ctx.Err(), show(out, append(results, p.notApplicable()...))); err != nil {
		return err
	}
	return checkMicroVMs(ctx, out, info.Hosts, started)
}
