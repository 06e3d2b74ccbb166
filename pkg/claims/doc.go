// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claims has the authoritative claims table: which sandbox serves which Pod, and
// the release token that destroys it. The table is kept in memory and in a [Store].
// Package claimfile implements the store on the host's disk: the file format, durable
// writes and the single-writer lock.
//
// What a caller can rely on:
//
//  1. Durable before it counts. A transition returns nil only when a write
//     that includes it is durable. A claim whose first write has not landed is
//     [Tentative].
//  2. A failed write loses nothing. The change stays in memory, and the next write
//     carries it. An adoption alone is undone.
//  3. Concurrent transitions share one write, and the table's lock is not held
//     while the store works.
//  4. Every transition names the pod key and the claim id. One that has been
//     overtaken changes nothing and answers [ErrNotFound].
//  5. A credential leaves the table through [Table.Forget] only, which callers
//     use once the node has confirmed that the sandbox is gone.
//  6. A store that cannot be read in full is an error at [Open], and is not written.
package claims
