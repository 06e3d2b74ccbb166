// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash kills the real binary with SIGKILL, again and again, at random times
// under load, and checks the state that it leaves.
//
// A world is one host: the simulated sandboxd, a state directory, an API server
// stand-in, and users who create, evict and delete Sandboxes and Pods all the time. The
// daemon is killed while it starts, some time after it is ready, or right after a
// request to sandboxd. Then the claims file is compared with the simulator's state:
//
//   - every living VM has a row, under its own key and with its own token, or is a lost
//     answer: the last claim for its key before a kill, which nobody saw;
//   - a VM that had a row or was published keeps its row while it lives;
//   - every release was authorized at that time;
//   - no Pod was published on two VMs, no VM for two owners, none Running without a
//     row, none Failed while its VM lived;
//   - the file is complete at every time, and only its owner can read it;
//   - no token is in the daemon's output or in a request to the API server.
//
// At the end of a world one daemon runs without faults: everything must converge, and
// after every owner is deleted, nothing may remain.
//
// A kill cannot show a missing fsync, because the kernel keeps the writes of a dead
// process. test/sim covers that with a file system that loses unsynced data.
package crash
