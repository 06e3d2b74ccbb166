// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package walk follows the documentation on a cluster, as a reader would: it runs
// the commands of the pages in order, in one shell, and checks after each section
// that what the page promises has come about. Every command is run at least once,
// but for those that a page marks as run elsewhere.
//
// It needs the build tag e2e and a cluster of two hosts without a release of the
// chart: run it with "make test-e2e". The one story is TestDocumentation; a new
// section is played from there.
package walk
