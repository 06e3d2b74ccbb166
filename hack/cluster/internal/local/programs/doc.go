// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package programs says how each program of the local cluster is configured, started and checked.
package programs
