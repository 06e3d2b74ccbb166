// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api serves the HTTP API of the simulated sandboxd: it checks tokens, carries out faults, logs requests, and
// calls the daemon of package host.
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
package api
