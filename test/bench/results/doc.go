// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package results has the rows of the table that the bench prints: their figures, what they are compared with, and
// their targets.
package results
