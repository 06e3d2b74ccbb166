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
//  2. There is at most one publication in an interval. A change after a calm
//     time is published within a second; what changes while an interval lasts
//     goes out together at its end.
//  3. A publication is one apply of the status; two applies when the object is
//     new, or its owner is.
//  4. The object is watched by its name. Fields of this package that someone
//     else changed are back within an interval, and so is the object when it was
//     deleted; fields of others stay. A watch that ends is made up for by a
//     read. There is no list, and no delete.
//  5. The object is owned by the Node that has the node's name, by UID. A Node
//     that is re-created takes the object over with the next publication; the
//     garbage collector deletes one that still names the old Node, which is
//     reason enough for a publication. Nothing else removes it: not a restart,
//     not a failed read.
//  6. An apply is never larger than [MaxBytes]. Rows that do not fit are left out
//     from the end, where the bound claims are; truncatedCount and the counts
//     still count them.
//  7. Conditions keep their transition time while their status stays, also over a
//     restart.
//  8. A failure is logged when it begins, and retried at growing intervals of at
//     most five minutes; none ends [Publisher.Run].
package claimstatus
