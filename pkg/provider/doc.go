// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package provider is virtual-kubelet's Pod lifecycle over the claims table. A Pod that
// arrives gets a claim. When a Pod goes away, its owner decides what happens to the
// claim.
//
// This package has one file per verb (create, update, delete, read), and three files for
// work outside virtual-kubelet's queues: observe follows the Pod cache, reconcile repairs
// missed changes, ensure retries Pods without a claim. The other packages, in the order
// in which a claim meets them:
//
//	binding    gives a Pod its claim, and ends Pods whose sandbox is gone
//	sandboxes  knows what sandboxd holds: verification, leases, health, orphans
//	deletion   decides what happens to the claim of a deleted Pod
//	release    reads owners again, and destroys sandboxes until sandboxd confirms it
//	pods       keeps the tracked Pods and the lock of each Pod key
//	status     builds the statuses and publishes them
//	attempts   decides when a Pod without a claim is tried again
//	events     records what happens to a sandbox
//
// Every decision about a Pod key holds the lock of that key, because virtual-kubelet's
// queues do not exclude each other. Reads take no key lock and never leave memory.
package provider
