// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crash kills the real binary with SIGKILL, again and again, at random
// moments under load, and looks at what is left.
//
// A world is one host: the simulated sandboxd, a state directory, an API server
// stand-in, and users who create, evict and delete Sandboxes and Pods all the
// time. The daemon of a world runs for a moment and is killed: while it starts,
// some time after it is ready, or right after it has asked sandboxd for
// something. Then the claims file is held against the simulator's history:
//
//   - every live VM has a row, under its own key and with its own token, or is a
//     lost answer: the last claim for its key before a kill, which nobody saw;
//   - what has had a row, or was published, keeps its row for as long as it lives;
//   - every release had its authority at that moment;
//   - no Pod was published on two VMs, no VM for two owners, none Running
//     without a row, none Failed while its VM lived;
//   - the file can be read whole at every moment, and only by its owner;
//   - no token is in the daemon's output, or in anything it sent to the API
//     server.
//
// At the end of a world the daemon is left alone: everything has to converge,
// and once every owner is deleted, nothing may be left.
//
// What a kill can not show is a missing fsync: the kernel keeps what a dead
// process has written. That is what test/sim is for, with a file system that
// forgets.
package crash
