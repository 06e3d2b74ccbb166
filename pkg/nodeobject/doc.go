// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package nodeobject has what the objects that a node publishes about itself
// have in common: one per virtual node, of its name, owned by its Node, applied
// under one field manager, and never larger than what can be stored.
package nodeobject
