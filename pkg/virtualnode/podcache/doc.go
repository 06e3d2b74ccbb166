// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package podcache has the Pods bound to one node: the informer that watches them, the
// listers that read them, and the client that writes their statuses. Reads and writes
// share one cache, so that a written status is read back before the watch shows it.
//
// It only reflects the API server. The provider decides which Pods run and what their
// statuses are.
package podcache
