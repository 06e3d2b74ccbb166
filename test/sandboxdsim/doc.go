// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandboxdsim is a simulated sandboxd: the peer of the daemon in tests, demo and benchmark.
//
// It is written from the description of the sandboxd HTTP API alone and shares no type with the client in
// pkg/sandboxd, so that a misreading on one side shows up on the other.
//
// In a test, [New] makes a [Server]. [Server.Transport] joins a client to it without a socket, which lets both run in
// a testing/synctest bubble; [Server.Handler] and [Server.Serve] serve real connections. Nothing runs by itself:
// call Reap and Refill when time has passed, or let [Server.Run] do so. With a seeded source of random numbers
// and a fake clock in the configuration, a run repeats itself exactly.
//
// As a program, cmd/sandboxd-sim serves the API on one listener and the control API on another; its
// README has the control API with examples.
//
// This package joins the parts and lives through restarts. The parts are in folders of their own:
//
//   - config: tokens, pools, limits and timing of a host;
//   - host: its VMs, warm pools, claims and leases, and where they are kept;
//   - api: the HTTP API that a client sees;
//   - fault: what goes wrong with requests;
//   - history: what really happened, and what was asked;
//   - control: the control API, with a client;
//   - inprocess: HTTP without a socket;
//   - simtest: what the tests of these packages share.
package sandboxdsim
