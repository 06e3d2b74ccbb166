// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podcache has the Pods bound to one node: the informer that watches them, the
// listers that read them, and the client that writes their statuses. Reads and writes
// share one cache, so that a status which was written counts before the watch shows it.
//
// Only what the API server says about Pods belongs here. Which Pods run, and what their
// statuses say, is up to the provider.
package podcache
