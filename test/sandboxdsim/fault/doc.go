// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package fault says what can go wrong in the simulated sandboxd, and which faults are in force.
//
// A [Fault] strikes requests to an endpoint at one of two moments. [PointRequest] is before anything is done; at
// [PointResponse] everything is done and kept, and only the answer is missing. So a lost answer is [ActionDrop] at
// PointResponse of "claim", a failed list is [ActionStatus] on "list", and a crash between keeping a claim and
// answering it is [ActionRestart] at PointResponse. Count, Skip, Probability (with a seed), Sandboxes and For
// narrow it. [ActionRewrite] makes odd answers: a row of the index whose deadline is not a time, or a claim whose
// owner_addr has no port.
//
// The package decides which requests a fault strikes. It does not carry faults out; package api does.
package fault
