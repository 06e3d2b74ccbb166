// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sim runs the whole provider in one process under virtual time: the
// real table on a file system that fails and crashes, the real client against
// the simulated sandboxd, the real delete authorisation against an API server
// that errs and lags, driven by a stand-in for virtual-kubelet that does what
// the library does, its losses included.
//
// A history is a list of random steps. After each step a model that knows only
// what users and nodes did checks the rules of DESIGN: no sandbox destroyed
// without authority, no credential dropped while its sandbox lives, nothing
// Running that is not durable, nothing Failed that is alive, no sandbox for two
// Pods, no token in sight. At the end all faults are lifted, and everything
// has to settle.
package sim
