// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package clusterinfo

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	daemon = "system:serviceaccount:vk-sandbox:vk-sandbox"

	auditLines = `{"auditID":"1","verb":"list","user":{"username":"` + daemon + `"},"objectRef":{"resource":"pods"},"requestReceivedTimestamp":"2026-07-27T02:14:59.000000Z"}
{"auditID":"2","stage":"ResponseStarted","verb":"watch","user":{"username":"` + daemon + `"},"objectRef":{"resource":"pods"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-07-27T02:15:01.000000Z"}
{"auditID":"2","stage":"ResponseComplete","verb":"watch","user":{"username":"` + daemon + `"},"objectRef":{"resource":"pods"},"responseStatus":{"code":500},"requestReceivedTimestamp":"2026-07-27T02:15:01.000000Z"}
{"auditID":"3","verb":"patch","user":{"username":"system:serviceaccount:vk-sandbox:kwok"},"userAgent":"not ` + daemon + `","objectRef":{"resource":"pods","subresource":"status"},"requestReceivedTimestamp":"2026-07-27T02:15:02.000000Z"}
{"auditID":"4","verb":"get","requestURI":"/apis","userAgent":"vk-sandbox/v1","user":{"username":"` + daemon + `","extra":{"authentication.kubernetes.io/pod-name":["vk-sandbox-x"]}},"requestReceivedTimestamp":"2026-07-27T02:15:03.000000Z"}
{"auditID":"5","verb":"create","user":{"username":"` + daemon + `"},"objectRef":{"resource":"events","apiGroup":"events.k8s.io"},"responseStatus":{"code":403,"details":{"causes":[{"reason":"NamespaceTerminating"}]}},"requestReceivedTimestamp":"2026-07-27T02:15:04.000000Z"}
`
	renamedLines = `{"auditID":"0","verb":"patch","user":{"username":"` + daemon + `"},"objectRef":{"resource":"pods","subresource":"status"},"requestReceivedTimestamp":"2026-07-27T02:15:00.500000Z"}
`
)

// writeAudit writes an audit log and one that was renamed because of its size.
func writeAudit(t *testing.T, lines string) *Info {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"audit.log": lines, "audit-2026-07-27T02-15-00.900.log": renamedLines} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &Info{AuditLog: filepath.Join(dir, "audit.log")}
}

// A watch counts once, another user's requests do not, nor do those from before, and
// a log that was renamed is read too.
func TestRequests(t *testing.T) {
	info := writeAudit(t, auditLines)
	got, err := info.Requests(daemon, time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	at := func(id, verb, resource string, seconds float64) (r Request) {
		r.AuditID, r.Verb, r.User.Username, r.ObjectRef.Resource = id, verb, daemon, resource
		r.RequestReceivedTimestamp = time.Date(2026, 7, 27, 2, 15, 0, int(seconds*1e9), time.UTC)
		return r
	}
	want := []Request{at("0", "patch", "pods", 0.5), at("2", "watch", "pods", 1), at("4", "get", "", 3), at("5", "create", "events", 4)}
	want[0].ObjectRef.Subresource = "status"
	want[1].ResponseStatus.Code = 200
	want[2].RequestURI, want[2].UserAgent = "/apis", "vk-sandbox/v1"
	want[2].User.Extra = map[string][]string{"authentication.kubernetes.io/pod-name": {"vk-sandbox-x"}}
	want[3].ObjectRef.APIGroup, want[3].ResponseStatus.Code = "events.k8s.io", 403
	want[3].ResponseStatus.Details.Causes = []struct{ Reason string }{{"NamespaceTerminating"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for i, want := range []bool{false, true, true, false} {
		if got[i].ReadOnly() != want {
			t.Errorf("%s is read-only: %t", got[i].Verb, !want)
		}
	}
	if all, err := info.Requests(daemon, time.Time{}); err != nil || len(all) != 5 {
		t.Errorf("%d requests of all times (%v), want 5", len(all), err)
	}
}

// A log that is not there, or that cannot be read to its end, is not one without
// requests; one that was last written before the moment need not be read.
func TestRequestsOfABrokenLog(t *testing.T) {
	if _, err := (&Info{AuditLog: filepath.Join(t.TempDir(), "audit.log")}).Requests(daemon, time.Time{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a log: %v", err)
	}
	info := writeAudit(t, auditLines[:len(auditLines)-20])
	if got, err := info.Requests(daemon, time.Time{}); err == nil {
		t.Errorf("requests of a log that is cut off: %v", got)
	}
	if got, err := info.Requests(daemon, time.Now().Add(time.Hour)); err != nil || len(got) > 0 {
		t.Errorf("requests of the future: %v (%v)", got, err)
	}
}
