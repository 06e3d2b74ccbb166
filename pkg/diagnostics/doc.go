// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package diagnostics serves what operators and their tools ask of a running
// daemon over HTTP: /metrics, /healthz, /readyz, and if wanted the Go profiles
// under /debug/pprof/.
//
// It listens before anything else is done, so that a daemon that has to wait,
// for the lock of the claims table or for the API server, can be told from one
// that hangs: it is alive and not ready. There is neither TLS nor a credential,
// and nothing that is served is secret; the default address is loopback.
package diagnostics
