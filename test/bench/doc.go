// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command bench measures the daemon against KWOK and against its targets, on
// the cluster of hack/cluster, and prints one table. hack/bench.sh runs it;
// docs/performance.md says how each figure is obtained.
//
// Both subjects are processes on this machine with a service account each, on
// the same control plane, one at a time and in turns. KWOK answers a Pod from
// memory; the daemon makes a claim at a simulated sandboxd, which takes no time
// of its own, and has it on disk first. Every burst checks its own counts: a
// Pod that does not run, or a claim that was not made or not released, is an
// error and no figure.
package main
