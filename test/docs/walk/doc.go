// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package walk follows the documentation on a cluster as a reader does. It runs the
// commands of the pages in order in one shell, and checks the promised result after each
// section. Every command is run at least once, except those that a page marks as run
// elsewhere.
//
// It needs the build tag e2e and a cluster of two hosts without a release of the chart:
// run it with "make test-e2e". TestDocumentation is the only test; add a new section
// there.
package walk
