// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sandboxd is the client of one sandboxd, the daemon that holds a node's warm
// microVMs. It has the wire types and the HTTP calls. It does not depend on Kubernetes,
// command line flags or where the daemon runs.
//
// Files: claim and release; the index (list, find by claim_ref, get); lifecycle
// (hibernate, wake, renew); branch (fork, checkpoint); pools; the client, its errors,
// tokens and metrics.
//
// What a caller can rely on:
//
//   - A [Token] never reaches a log line, an error, a JSON document or a
//     formatted string unless [Token.Reveal] is called.
//   - An error from sandboxd is an [*Error] with a class and a status. The
//     text the daemon sent is never part of it: it may be long, change with
//     every request, or quote a credential.
//   - Each call has a deadline of its own. A claim may block for as long as a
//     cold boot takes, so its deadline is longer than that of the others.
//   - A release that answers 404 does not prove that the sandbox is gone:
//     sandboxd answers the same for a wrong token. Only its index decides.
package sandboxd
