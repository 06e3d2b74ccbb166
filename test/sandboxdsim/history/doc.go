// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history records what really happened on a simulated host, whatever its API said: every transition of a VM
// with its time and cause, counters, and every request with its answer.
//
// [Record] keeps the events, over restarts of the process where there is a state directory. [Requests] keeps the
// requests, in memory. Neither ever holds a token.
package history
