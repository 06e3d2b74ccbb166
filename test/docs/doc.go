// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs tests the documentation as text: which commands are not executed,
// whether those can be right, and whether its links lead somewhere. The commands
// themselves are executed by package walk on a cluster, and those for systemd by
// test/packaging.
package docs
