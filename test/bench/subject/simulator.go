// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"fmt"
	"net/http/httptest"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// RootToken is the token of the simulated sandboxd.
const RootToken = "a-root-token-for-the-bench"

// Simulator is a simulated sandboxd on loopback that takes no time of its own.
type Simulator struct {
	node   *sandboxdsim.Server
	Server *httptest.Server
}

// StartSimulator returns a simulator that serves.
func StartSimulator() (*Simulator, error) {
	node, err := sandboxdsim.New(config.Config{
		RootToken: RootToken,
		Pools:     []config.Pool{{Key: config.Key{Template: cluster.Template}}},
	})
	if err != nil {
		return nil, err
	}
	return &Simulator{node: node, Server: httptest.NewServer(node.Handler())}, nil
}

// Stop ends the simulator.
func (s *Simulator) Stop() error {
	s.Server.CloseClientConnections()
	s.Server.Close()
	return s.node.Close()
}

// Check reports when not exactly so many claims are alive.
func (s *Simulator) Check(want int) error {
	if got := len(s.node.History(history.Filter{}).VMs); got != want {
		return fmt.Errorf("sandboxd holds %d claims, want %d", got, want)
	}
	return nil
}
