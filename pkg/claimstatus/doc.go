// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claimstatus publishes how the node's claims table stands, for people,
// as one NodeClaimStatus object named after the node.
//
// Everything about a claim leaves the host but its credential, and nothing else
// does: [Redact] makes rows of a type that cannot hold one, and all that is
// published or printed is made of such rows.
//
// What the [Publisher] guarantees:
//
//  1. Nothing is written when nothing has changed: neither lastVerifiedTime nor
//     lastPublishedTime alone is a change. The first cycle of a run writes.
//  2. There is at most one publication in an interval. A change after an idle
//     time is published within a second; what changes while an interval lasts
//     goes out together at its end.
//  3. A publication is one apply of the status; two applies when the object is
//     new, or its owner is.
//  4. The object is watched by its name. Fields of this package that someone
//     else changed are back within an interval, and so is the object when it was
//     deleted; fields of others stay. A watch that ends is started again within
//     an interval, at the present state, and the object is read with it.
//     Content decides whether the object is right, never its version, so an API
//     server that was restored from a backup has the present state within an
//     interval of its answering again. There is no list, and no delete.
//  5. The object is owned by the Node that has the node's name, by UID. A Node
//     that is re-created takes the object over within an interval; where the
//     garbage collector was faster and deleted it with the old Node, it is
//     published again. Nothing else removes it: not a restart, not a failed
//     read.
//  6. An apply is never larger than [MaxBytes]. Rows that do not fit are left out
//     from the end, where the bound claims are; truncatedCount and the counts
//     still count them.
//  7. Conditions keep their transition time while their status stays, also over a
//     restart.
//  8. A failure is logged when it begins, and retried at growing intervals of at
//     most five minutes, or after an interval once the watch gets an answer
//     again; none ends [Publisher.Run].
package claimstatus
