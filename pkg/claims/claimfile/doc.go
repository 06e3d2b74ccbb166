// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package claimfile keeps a claims table in one file on the host: the JSON format,
// durable writes, and the single-writer lock. The states of a claim and their transitions
// are in package claims.
//
// What a caller can rely on:
//
//  1. [Store.Write] returns nil only when the file has been fsynced, renamed into
//     place and its directory fsynced. After a crash the file is the old one or the
//     new one, whole.
//  2. A file that cannot be read in full is an error, with the file untouched. A
//     missing file is an empty table for [Store.Load].
//  3. Unknown fields, at the top, in a row and in the place, survive a round trip, so
//     that a table can pass through an older build and back.
//  4. One daemon at a time holds [Lock], and a file system from [WriterLock.Guard]
//     makes no file without it.
//  5. No error contains a token.
package claimfile
