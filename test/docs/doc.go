// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks the documentation as text: the list of commands that are not
// executed, their syntax, and all links. Package walk executes the other commands on a
// cluster, and test/packaging those for systemd.
package docs
