// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/binaries"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
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
	choice := cmp.Or(os.Getenv("CLUSTER"), "local")
	s := settings{state: state, source: source, progress: progress.New(os.Stderr)}
	var create func(settings) (driver, error)
	switch choice {
	case "local":
		create = local
	case kind.Driver:
		create = newKind
	default:
		return nil, fmt.Errorf(`CLUSTER is %q; it must be "local" or "kind"`, choice)
	}
	if err := cluster.CheckDriver(state, choice); err != nil {
		return nil, err
	}
	return create(s)
}

func newKind(s settings) (driver, error) {
	cache, err := binaries.NewCache(s.source, s.progress)
	if err != nil {
		return nil, err
	}
	return &kind.Cluster{
		State: s.state, Progress: s.progress, Run: kind.Command, LookPath: exec.LookPath, NodeImage: os.Getenv("KIND_NODE_IMAGE"),
		Build: func(ctx context.Context) (map[string]string, error) { return cache.Ensure(ctx, binaries.Clients()) },
	}, nil
}
