// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http/httptest"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

const (
	template  = "ghcr.io/cocoonstack/sandbox/rt:24.04"
	rootToken = "a-root-token-for-the-bench"
)

// simulator is a simulated sandboxd on loopback that takes no time of its own.
type simulator struct {
	node   *sandboxdsim.Server
	server *httptest.Server
}

func startSimulator() (*simulator, error) {
	node, err := sandboxdsim.New(config.Config{
		RootToken: rootToken,
		Pools:     []config.Pool{{Key: config.Key{Template: template}}},
	})
	if err != nil {
		return nil, err
	}
	return &simulator{node: node, server: httptest.NewServer(node.Handler())}, nil
}

func (s *simulator) stop() error {
	s.server.CloseClientConnections()
	s.server.Close()
	return s.node.Close()
}

// check reports when not exactly so many claims are alive.
func (s *simulator) check(want int) error {
	if got := len(s.node.History(history.Filter{}).VMs); got != want {
		return fmt.Errorf("sandboxd holds %d claims, want %d", got, want)
	}
	return nil
}
