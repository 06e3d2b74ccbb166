// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the whole provider in one process under virtual time: the
// real table on a file system that fails and crashes, the real client against
// the simulated sandboxd, the real delete authorisation against an API server
// that errs and lags, driven by a stand-in for virtual-kubelet that does what
// the library does, its losses included.
//
// A history is a list of random steps. After each step a model that knows only
// what users and nodes did checks the rules of docs/architecture.md: no sandbox destroyed
// without authority, no credential dropped while its sandbox lives, nothing
// Running that is not durable, nothing Failed that is alive, no sandbox for two
// Pods, no token in sight. At the end all faults are lifted, and everything
// has to settle; a fault that concerns one sandbox may stay, and must hold up
// no other.
//
// Whose a sandbox is follows its Pod: a release is right if the controller that
// the Pod had last allows it. An earlier one counts only while the daemon cannot
// have known of the change, or cannot have written it down: its cache has not
// shown it, or the daemon ended within a minute after that. Nothing is destroyed
// while its Pod lives, and nothing in another cluster. A restore of the API
// server is no authority: where it forgets several Pods with their owners, their
// sandboxes live for the hold's time.
//
// An index may be wrong, in the list and in single reads together, for four
// minutes after a restart of sandboxd; the list alone for as long as it likes.
package sim
