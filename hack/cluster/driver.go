// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/binaries"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/kind"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// settings are what every driver needs.
type settings struct {
	state, source string
	progress      *progress.Reporter
}

// selectDriver returns the driver that the environment asks for.
func selectDriver(local func(settings) (driver, error)) (driver, error) {
	state, source, err := folders()
	if err != nil {
		return nil, err
	}
	s := settings{state: state, source: source, progress: progress.New(os.Stderr)}
	switch choice := os.Getenv("CLUSTER"); choice {
	case "", "local":
		return local(s)
	case "kind":
		return newKind(s)
	default:
		return nil, fmt.Errorf(`CLUSTER is %q; it must be "local" or "kind"`, choice)
	}
}

func newKind(s settings) (driver, error) {
	cache, err := binaries.NewCache(s.source, s.progress)
	if err != nil {
		return nil, err
	}
	return &kind.Cluster{
		State: s.state, Progress: s.progress, Run: kind.Command, LookPath: exec.LookPath,
		Build: func(ctx context.Context) (map[string]string, error) { return cache.Ensure(ctx, binaries.Clients()) },
	}, nil
}
