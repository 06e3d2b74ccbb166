// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package provider is virtual-kubelet's Pod lifecycle over the claims table:
// a Pod that arrives becomes a claim, a Pod that leaves hands its claim to its
// owner's fate.
//
// One file per verb of the lifecycle (create, update, delete, read) and one
// per loop:
//
//	verify     lifts the quarantine of a reloaded table
//	leases     ends Pods whose lease has passed and whose sandbox is gone
//	recheck    re-reads the owners of claims whose Pod is gone
//	releases   destroys withdrawn claims until the node confirms it
//	reconcile  repairs what virtual-kubelet's queues lost
//	orphans    compares the node's index with the table, and only reports
//	health     watches whether sandboxd answers
//
// Whatever decides over one Pod key, verb or loop, holds that key's lock,
// because virtual-kubelet's queues do not exclude each other. Reads take no
// key lock and never leave memory.
package provider
