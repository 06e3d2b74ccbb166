// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandboxdsim is a simulated sandboxd: the peer of the daemon in tests, demo and benchmark.
//
// It is written from the description of the sandboxd HTTP API alone and shares no type with the client in
// pkg/sandboxd, so that a misreading on one side shows up on the other.
//
// # Two uses
//
// In a test, [New] makes a [Server]. [Server.Transport] joins a client to it without a socket, which lets both run in
// a testing/synctest bubble; [Server.Handler] and [Server.Serve] serve real connections. Nothing runs by itself:
// call [Server.Reap] and [Server.Refill] when time has passed, or let [Server.Run] do so. With a seeded
// [Config.Rand] and a fake [Config.Clock] a run repeats itself exactly.
//
// As a program, cmd/sandboxd-sim serves the API on one listener and the control API on another; its
// README has the control API with examples. [ControlClient] calls it from Go.
//
// # Faults
//
// A [Fault] strikes requests to an endpoint at one of two moments. [PointRequest] is before anything is done; at
// [PointResponse] everything is done and kept, and only the answer is missing. So a lost answer is [ActionDrop] at
// PointResponse of "claim", a failed list is [ActionStatus] on "list", and a crash between keeping a
// claim and answering it is [ActionRestart] at PointResponse. Count, Skip, Probability (with a seed), Sandboxes and For
// narrow it. [ActionRewrite] makes odd answers: a row of the index whose deadline is not a time, or a claim whose
// owner_addr has no port.
//
// # Truth
//
// [Server.Truth] returns every transition with its time and its cause, every live VM, and counters: how many VMs were
// ever made and by whom each was destroyed. It knows for each claim whether its answer was written
// or lost. [Server.Requests] is the log of calls. Neither holds a token; [Server.Token] hands one out. The truth
// is kept in the state directory, over restarts of the process; the request log is not.
//
// # Where the API's description leaves room
//
//   - An unknown bearer token on release, hibernate, wake or renew is 404, as a wrong token; no token at all is 401; the
//     tenant's is 403, as on every endpoint but claim.
//   - hibernate, wake and renew answer 200 with the row; repeating hibernate or wake changes nothing. Renewing an
//     archived sandbox is 409. renew takes ttl_seconds as claim does.
//   - Archived sandboxes are listed as hibernated too. They do not count as claimed, nor towards max_claims.
//   - A body over 1 MiB and a negative ttl_seconds are 400.
//   - A claim that is being provisioned goes on when its client has gone, and then counts as an answer lost.
package sandboxdsim
