// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestClusterWide(t *testing.T) {
	tests := map[string]bool{
		"/api/v1/pods": true,
		"/api/v1/pods?fieldSelector=spec.nodeName%3Dhost-1":                     false,
		"/api/v1/pods?fieldSelector=status.phase%3DRunning":                     true,
		"/api/v1/namespaces/agents/pods":                                        true,
		"/api/v1/namespaces/agents/pods/agent-1":                                false,
		"/api/v1/nodes":                                                         true,
		"/api/v1/nodes/host-1":                                                  false,
		"/api/v1/namespaces":                                                    true,
		"/apis/agents.x-k8s.io/v1beta1/sandboxes?watch=true":                    true,
		"/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/host-1": false,
		"/apis/sandbox.cocoonstack.io/v1alpha1/nodeclaimstatuses?fieldSelector=metadata.name%3Dn&watch=1": false,
		"/apis/agents.x-k8s.io/v1beta1": false,
		"/apis":                         false,
	}
	for url, want := range tests {
		if got := clusterWide(httptest.NewRequest(http.MethodGet, url, nil)); got != want {
			t.Errorf("%s: cluster-wide %t, want %t", url, got, want)
		}
	}
	if clusterWide(httptest.NewRequest(http.MethodPost, "/api/v1/nodes", nil)) {
		t.Error("a create is taken for a list")
	}
}

func TestPeakOfRequests(t *testing.T) {
	start := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	c := &counter{wide: 3}
	for _, ms := range []int{250, 0, 60, 120, 159, 160, 900} {
		c.times = append(c.times, start.Add(time.Duration(ms)*time.Millisecond))
	}
	total, wide, peak := c.summary(100 * time.Millisecond)
	// 60, 120 and 159 ms, or 120, 159 and 160 ms: from 60 ms to 160 ms is a whole window.
	if total != 7 || wide != 3 || peak != 3 {
		t.Errorf("got %d requests, %d wide, %d at most in a window; want 7, 3, 3", total, wide, peak)
	}
}
