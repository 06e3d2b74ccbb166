// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package host has what a simulated host holds: its VMs and where they are kept, its warm pools, claims and leases.
// It knows no HTTP request and no fault; package api serves it.
//
// A [Host] outlives its [Daemon], one incarnation of the simulated sandboxd. A restart stops the daemon and
// loads the next one from the store; a request that began under a stopped daemon changes nothing any more.
package host
