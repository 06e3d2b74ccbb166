// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claimstatus publishes the state of the node's claims table, for people, as
// one NodeClaimStatus object named after the node.
//
// Everything about a claim is published except its credential: [Redact] makes rows of a
// type that cannot hold one, and only such rows are published or printed.
//
// The [Publisher] guarantees:
//
//  1. It writes only when something has changed. lastVerifiedTime or
//     lastPublishedTime alone is not a change. The first cycle of a run always
//     writes.
//  2. It publishes at most once in an interval. A change after an idle time is
//     published within a second; changes during an interval are published together at
//     its end.
//  3. A publication is one apply of the status, or two applies if the object is new
//     or has a new owner.
//  4. It watches the object by name. Within an interval it restores its fields if
//     someone else changed them, and the object if someone deleted it; it leaves
//     fields of others alone. A watch that ends is started again within an interval,
//     at the present state, together with a read of the object. It compares content,
//     never versions, so an API server that was restored from a backup has the
//     present state within an interval of answering again. It never lists or deletes.
//  5. The object is owned, by UID, by the Node of the node's name. A re-created Node
//     becomes the owner within an interval; if the garbage collector has deleted the
//     object with the old Node, the object is published again. Nothing else removes
//     it: no restart and no failed read.
//  6. An apply is never larger than [MaxBytes]. Rows that do not fit are left out
//     from the end, where the bound claims are; the counts and truncatedCount include
//     them.
//  7. A condition keeps its transition time while its status does not change, also
//     across a restart.
//  8. A failure is logged when it begins, and retried at growing intervals of at most
//     five minutes, or after an interval once the watch gets an answer. No failure
//     ends [Publisher.Run].
package claimstatus
