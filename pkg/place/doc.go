// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package place decides whether the claims table may be used here. A table has the claims
// of one host's sandboxd, and its owners exist in one cluster. In another cluster every
// owner reads as gone, and on another host every sandbox is a different one, so acting on
// the table there would destroy users' sandboxes.
//
// The table records its place: the UID of the cluster's kube-system namespace, which is
// unique to each cluster, and an id of the host. A [Guard] compares the record with the
// present place before anything is claimed, released or published. A table without a
// record takes the first place that is found. On a mismatch the guard waits for an
// operator's approval, or until the mismatch is gone.
//
// While the daemon runs, the guard confirms the cluster for each verdict that would
// release ([Guard.Verify]), because an address can move to another API server between two
// requests.
package place
