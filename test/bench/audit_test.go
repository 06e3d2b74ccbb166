// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

const auditLines = `{"auditID":"1","verb":"list","user":{"username":"system:serviceaccount:vk-sandbox-bench:vk-sandbox-bench"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-07-27T02:14:59.000000Z"}
{"auditID":"2","stage":"ResponseStarted","verb":"watch","user":{"username":"system:serviceaccount:vk-sandbox-bench:vk-sandbox-bench"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-07-27T02:15:01.000000Z"}
{"auditID":"2","stage":"ResponseComplete","verb":"watch","user":{"username":"system:serviceaccount:vk-sandbox-bench:vk-sandbox-bench"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-07-27T02:15:01.000000Z"}
{"auditID":"3","verb":"patch","user":{"username":"system:serviceaccount:vk-sandbox-bench:kwok"},"objectRef":{"resource":"pods","subresource":"status"},"requestReceivedTimestamp":"2026-07-27T02:15:02.000000Z"}
{"auditID":"4","verb":"get","user":{"username":"system:serviceaccount:vk-sandbox-bench:vk-sandbox-bench"},"requestURI":"/apis","requestReceivedTimestamp":"2026-07-27T02:15:03.000000Z"}
`

const rotatedLines = `{"auditID":"0","verb":"patch","user":{"username":"system:serviceaccount:vk-sandbox-bench:vk-sandbox-bench"},"objectRef":{"resource":"pods","subresource":"status"},"requestReceivedTimestamp":"2026-07-27T02:15:00.500000Z"}
`

// A watch counts once, another account's requests do not, and a log that was
// renamed because of its size is read too.
func TestRequestsAreCounted(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"audit.log": auditLines, "audit-2026-07-27T02-15-00.900.log": rotatedLines} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &cluster{info: &clusterinfo.Info{AuditLog: filepath.Join(dir, "audit.log")}}
	begun := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	got, err := c.requests(begun, begun.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]request{{"patch", "pods"}, {"watch", "pods"}, {"get", ""}}, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	writes := 0
	for _, r := range got {
		if r.writesPod() {
			writes++
		}
	}
	if writes != 1 {
		t.Errorf("%d writes of Pods, want 1", writes)
	}
}
