// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims is the authoritative claims table: which sandbox serves which
// Pod, with the release token that alone can destroy it, kept in one file on
// the host.
//
// What a caller can rely on:
//
//  1. Durable before it counts. A transition returns nil only when a write
//     that includes it has been fsynced, renamed into place and its directory
//     fsynced. A claim whose first write has not landed is [Tentative].
//  2. A failed write loses nothing. The change stays in memory, the old file
//     stays whole, and the next write carries it. An adoption alone is undone.
//  3. Concurrent transitions share one write, and the table's lock is not held
//     while the disk works.
//  4. Every transition names the pod key and the claim id. One that has been
//     overtaken changes nothing and answers [ErrNotFound].
//  5. A credential leaves the table through [Table.Forget] only, which callers
//     use once the node has confirmed that the sandbox is gone.
//  6. A file that cannot be read in full is an error at [Open], with the file
//     untouched. A missing file is an empty table.
//
// The file is one JSON object. Unknown fields, at the top and in a row, survive a
// round trip, so that a table can pass through an older build and back.
package claims
