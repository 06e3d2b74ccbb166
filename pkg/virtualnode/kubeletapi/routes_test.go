// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

func request(h http.Handler, method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func TestRoutes(t *testing.T) {
	routes := newRoutes()
	for name, tc := range map[string]struct {
		method, path string
		want         int
	}{
		"logs":                  {"GET", "/containerLogs/ns/pod/agent?follow=true", 501},
		"exec":                  {"POST", "/exec/ns/pod/agent?command=sh&input=1", 501},
		"exec by websocket":     {"GET", "/exec/ns/pod/agent?command=sh", 501},
		"attach":                {"POST", "/attach/ns/pod/agent", 501},
		"attach by websocket":   {"GET", "/attach/ns/pod/agent", 501},
		"port-forward":          {"POST", "/portForward/ns/pod", 501},
		"port-forward by ws":    {"GET", "/portForward/ns/pod", 501},
		"stats":                 {"GET", "/stats/summary", 200},
		"metrics":               {"GET", "/metrics/resource", 200},
		"health":                {"GET", "/healthz", 404},
		"readiness":             {"GET", "/readyz", 404},
		"pods":                  {"GET", "/pods", 404},
		"pods with a slash":     {"GET", "/pods/", 404},
		"running pods":          {"GET", "/runningpods/", 404},
		"running pods, bare":    {"GET", "/runningpods", 404},
		"root":                  {"GET", "/", 404},
		"run":                   {"POST", "/run/ns/pod/agent", 404},
		"config":                {"GET", "/configz", 404},
		"profiles":              {"GET", "/debug/pprof/", 404},
		"logs by another verb":  {"DELETE", "/containerLogs/ns/pod/agent", 405},
		"stats by another verb": {"POST", "/stats/summary", 405},
	} {
		t.Run(name, func(t *testing.T) {
			w := request(routes, tc.method, tc.path)
			if w.Code != tc.want {
				t.Errorf("%s %s = %d, want %d", tc.method, tc.path, w.Code, tc.want)
			}
			if tc.want == 501 && !strings.Contains(w.Body.String(), "sandbox SDK") {
				t.Errorf("the answer does not say where to go instead: %q", w.Body)
			}
		})
	}
}

func TestEmptyStatistics(t *testing.T) {
	routes := newRoutes()
	var summary statsv1alpha1.Summary
	if err := json.Unmarshal(request(routes, "GET", "/stats/summary").Body.Bytes(), &summary); err != nil {
		t.Fatal(err)
	}
	if summary.Node.NodeName != "" || len(summary.Pods) != 0 {
		t.Errorf("summary = %+v, want an empty one", summary)
	}
	w := request(routes, "GET", "/metrics/resource")
	if w.Body.Len() != 0 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") {
		t.Errorf("metrics = %q as %q", w.Body, w.Header())
	}
}
