// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api serves the HTTP API of the simulated sandboxd: it checks tokens, carries out faults, logs requests, and
// calls the daemon of package host.
//
// # Where the API's description leaves room
//
//   - An unknown bearer token on release, hibernate, wake or renew is 404, as a wrong token; no token at all is 401; the
//     tenant's is 403, as on every endpoint but claim.
//   - Repeating hibernate or wake changes nothing. Hibernating on an egress lane and renewing an archived sandbox are
//     409. renew takes ttl_seconds as claim does.
//   - fork and checkpoint are not simulated.
//   - The pools of PUT /v1/pools neither grow up to warm_max nor hibernate or archive idle sandboxes: those fields are
//     checked only. A lower warm destroys no VM, a kept pool keeps its golden snapshot, and a new one has one.
//   - Archived sandboxes are listed as hibernated too. They do not count as claimed, nor towards max_claims.
//   - A body over 1 MiB and a negative ttl_seconds are 400.
//   - A claim that is being provisioned goes on when its client has gone, and then counts as an answer lost.
package api
