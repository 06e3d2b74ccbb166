// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Package local runs a cluster directly on this Linux machine, from programs
// built from their Go modules.
//
// The control plane lives in the machine's own namespaces and listens on the
// address of a bridge. A host is a set of namespaces that belong to one
// process, its init: network (a veth pair into the bridge), mounts (its own
// /run, /var/lib and /var/log), PIDs (everything that runs on the host ends
// with its init) and host name. Nothing of a host is mounted, routed or
// filtered outside its namespaces, so ending its init takes everything along.
//
// Every process is recorded with its start time, and is only ever signalled
// while both match; a cgroup holds them all, so that "down" finds what a lost
// record would have named.
package local
