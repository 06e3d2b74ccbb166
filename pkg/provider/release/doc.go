// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package release decides when the sandbox of a claim that no Pod holds may be
// destroyed, and destroys it.
//
// An [OwnerCheck] reads the owners of such claims again until one allows the release, or
// the grace of a claim that no Pod can adopt ends. A [Queue] then asks sandboxd to destroy
// the sandbox, and keeps the credential until sandboxd has confirmed that it is gone.
package release
