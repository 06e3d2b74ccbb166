// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package publish keeps objects about a virtual node up to date in the API. There
// is one object of each kind per virtual node. It has the node's name, is owned by
// the node's Node object, is applied under one field manager, and is never larger
// than what etcd can store.
//
// A [Publisher] does what all kinds have in common: it runs cycles, looks up the
// owner, skips a cycle in which nothing has changed, and logs when publishing
// starts to fail and when it works again. A [Source] does what differs: what is
// collected, how it is reduced to fit, how it is written, and when the next cycle
// is due.
package publish
