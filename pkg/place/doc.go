// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package place decides whether the claims table may be used here. A table holds
// the claims of one host's sandboxd, and the owners in it exist in one cluster. In
// another cluster every owner reads as gone, and on another host no sandbox is the
// one that a row names, so acting on the table there would destroy what users have.
//
// The table records its place: the UID of the cluster's kube-system namespace, which
// every cluster has and no two share, and an id of the host. A [Guard] compares the
// record with what it finds, before anything is claimed, released or published. A
// table without a record takes the first place that is found. On a mismatch the
// guard waits for an operator's approval, or until the mismatch is gone.
//
// While the daemon runs, the guard confirms the cluster for each verdict that would
// release ([Guard.Verify]), because an address can be moved to another API server
// between two requests.
package place
