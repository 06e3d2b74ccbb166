// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package subject runs what the bench measures as processes on this machine: the daemon with a simulated sandboxd,
// and KWOK.
package subject
