// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"net/http"
	"net/http/pprof"
)

// registerProfiles adds Go's profiles. A profile shows code and counts, never the content
// of memory. The endpoint of the command line is left out: it is in the Pod.
func registerProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
}
