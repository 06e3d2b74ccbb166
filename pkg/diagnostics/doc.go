// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diagnostics serves a running daemon's diagnostics over HTTP: /metrics,
// /healthz, /readyz, and optionally the Go profiles under /debug/pprof/.
//
// It listens before anything else starts, so that a daemon that waits, for the lock of
// the claims table or for the API server, can be distinguished from one that hangs: it is
// alive and not ready. There is neither TLS nor a credential, and no answer contains a
// secret; the default address is loopback.
package diagnostics
