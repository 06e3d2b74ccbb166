// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package check tests an installation end to end: on every virtual node it makes a bare
// sandbox Pod, waits for its claim, deletes the Pod, and waits for the end of the claim.
// It uses the API server only, and needs no access to the hosts.
//
// What a caller can rely on:
//
//  1. [Run] returns nil only when every node made a claim and released it.
//  2. It ends within [Config].Timeout, and at most [cleanupTime] of cleaning up.
//  3. No Pod of it is left without the error saying so. Where even that fails,
//     [Config].Owner takes the Pods along, and the claims end with their lease.
//  4. It deletes no Pod but its own.
package check
