// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package publish keeps objects about a virtual node up to date in the API. There is one
// object of each kind per virtual node. It has the node's name, is owned by the node's
// Node object, is applied under one field manager, and is never larger than what etcd can
// store.
//
// A [Publisher] has the common part: it runs cycles, looks up the owner, skips a cycle
// without changes, and logs when publishing starts to fail and when it recovers. A
// [Source] has the part of one kind: what to collect, how to reduce it to fit, how to
// write it, and when the next cycle is due.
package publish
