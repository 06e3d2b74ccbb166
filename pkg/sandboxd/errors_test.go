// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func TestStatusToClass(t *testing.T) {
	for status, want := range map[int]sandboxd.Class{
		101: sandboxd.Unavailable,
		300: sandboxd.Unavailable,
		301: sandboxd.Unavailable,
		302: sandboxd.Unavailable,
		303: sandboxd.Unavailable,
		304: sandboxd.Unavailable,
		307: sandboxd.Unavailable,
		308: sandboxd.Unavailable,
		400: sandboxd.Invalid,
		401: sandboxd.Unauthorized,
		403: sandboxd.Unauthorized,
		404: sandboxd.NotFound,
		405: sandboxd.Unavailable,
		408: sandboxd.Unavailable,
		409: sandboxd.Invalid,
		410: sandboxd.Unavailable,
		413: sandboxd.Invalid,
		422: sandboxd.Invalid,
		429: sandboxd.NoCapacity,
		500: sandboxd.Unavailable,
		502: sandboxd.Unavailable,
		503: sandboxd.Unavailable,
		504: sandboxd.Unavailable,
		599: sandboxd.Unavailable,
	} {
		cl := serve(t, answer(status, ""))
		for _, o := range operations {
			t.Run(fmt.Sprintf("%s %d", o.op, status), func(t *testing.T) {
				err := o.call(t.Context(), cl)
				wantClass(t, err, want)
				var e *sandboxd.Error
				if !errors.As(fmt.Errorf("wrapped: %w", err), &e) || e.Op != o.op || e.Status != status {
					t.Errorf("error %+v, want one of op %s and status %d", e, o.op, status)
				}
			})
		}
	}
}

// Only 204 says that a sandbox is destroyed: another success comes from
// something that is not sandboxd, or has merely taken note.
func TestReleaseIsConfirmedByNoContentOnly(t *testing.T) {
	for status, want := range map[int]sandboxd.Class{
		200: sandboxd.Unavailable,
		201: sandboxd.Unavailable,
		202: sandboxd.Unavailable,
		204: "",
		205: sandboxd.Unavailable,
	} {
		err := serve(t, answer(status, "")).Release(t.Context(), "sb_1", sandboxd.NewToken(sandboxSecret))
		if got := sandboxd.ClassOf(err); got != want || (err == nil) != (want == "") {
			t.Errorf("status %d: error %v, want class %q", status, err, want)
		}
	}
}

func TestClassOfOtherErrors(t *testing.T) {
	for _, err := range []error{nil, errors.New("other"), http.ErrServerClosed} {
		if got := sandboxd.ClassOf(err); got != "" {
			t.Errorf("class of %v: %q, want none", err, got)
		}
	}
}

func TestErrorTextSaysWhatToDo(t *testing.T) {
	for _, c := range []struct {
		err  sandboxd.Error
		want string
	}{
		{sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429}, "sandboxd claim: no warm capacity (HTTP 429); retried until the pool has capacity"},
		{sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 200}, "sandboxd claim: no warm capacity; retried until the pool has capacity"},
		{sandboxd.Error{Op: "claim", Class: sandboxd.Invalid, Status: 400}, "sandboxd claim: request refused (HTTP 400); check its template, net and size against the node's pools"},
		{sandboxd.Error{Op: "claim", Class: sandboxd.Unauthorized, Status: 401}, "sandboxd claim: credential refused (HTTP 401); check the node API token"},
		{sandboxd.Error{Op: "claim", Class: sandboxd.Unreachable}, "sandboxd claim: sandboxd unreachable; check that sandboxd runs and that its URL is right"},
		{sandboxd.Error{Op: "claim", Class: sandboxd.Unavailable, Status: 500}, "sandboxd claim: sandboxd failed (HTTP 500); see sandboxd's own log"},
		{sandboxd.Error{Op: "list", Class: sandboxd.Unauthorized, Status: 403}, "sandboxd list: credential refused (HTTP 403); check the node API token"},
		{sandboxd.Error{Op: "list", Class: sandboxd.Unavailable, Status: 200}, "sandboxd list: sandboxd failed; see sandboxd's own log"},
		{sandboxd.Error{Op: "get", Class: sandboxd.NotFound, Status: 404}, "sandboxd get: not found (HTTP 404)"},
		// A release presents the sandbox's own token and names no pool.
		{sandboxd.Error{Op: "release", Class: sandboxd.Unauthorized, Status: 401}, "sandboxd release: credential refused (HTTP 401); see sandboxd's own log"},
		{sandboxd.Error{Op: "release", Class: sandboxd.Invalid, Status: 409}, "sandboxd release: request refused (HTTP 409); see sandboxd's own log"},
		{sandboxd.Error{Op: "release by id", Class: sandboxd.Unauthorized, Status: 401}, "sandboxd release by id: credential refused (HTTP 401); check the node API token"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
