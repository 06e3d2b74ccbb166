// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"encoding/json"
	"net/http"

	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// newRoutes returns the kubelet API of this node. Endpoints that need a container answer
// 501; the statistics are empty. /pods and /runningpods do not exist: clients are not
// authenticated, and the endpoints would show them whole Pod specs. Health endpoints are
// in pkg/diagnostics, which listens before the node exists. The library's own handlers
// would add a router and a tracing library for these few constant answers.
func newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		mux.HandleFunc(method+" /exec/{namespace}/{pod}/{container}", notImplemented)
		mux.HandleFunc(method+" /attach/{namespace}/{pod}/{container}", notImplemented)
		mux.HandleFunc(method+" /portForward/{namespace}/{pod}", notImplemented)
	}
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", notImplemented)
	mux.HandleFunc("GET /stats/summary", emptySummary)
	mux.HandleFunc("GET /metrics/resource", noMetrics)
	return mux
}

// notImplemented answers kubectl logs, exec, attach and port-forward. kubectl shows the
// text to its user.
func notImplemented(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "not implemented: a sandbox Pod is a microVM without containers on this node; "+
		"reach it through the sandbox SDK or its preview URL", http.StatusNotImplemented)
}

func emptySummary(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(statsv1alpha1.Summary{})
}

// noMetrics is a Prometheus exposition without a single metric family.
func noMetrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	w.WriteHeader(http.StatusOK)
}
