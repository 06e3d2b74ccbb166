// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// tokenFile writes a token file and returns its path.
func tokenFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "token")
	writeToken(t, path, content)
	return path
}

func writeToken(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func fileToken(t *testing.T, path string) sandboxd.TokenSource {
	t.Helper()
	s, err := sandboxd.FileToken(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFileToken(t *testing.T) {
	for name, content := range map[string]string{
		"as it is": rootSecret, "new line": rootSecret + "\n", "CR LF": rootSecret + "\r\n", "white space around": " \t\n" + rootSecret + " \n\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got := fileToken(t, tokenFile(t, content)).Token().Reveal(); got != rootSecret {
				t.Errorf("token %q, want %q", got, rootSecret)
			}
		})
	}
	for name, content := range map[string]string{
		"empty": "", "white space": " \n\t\n", "two lines": rootSecret + "\n" + rootSecret, "NUL": rootSecret + "\x00x",
	} {
		t.Run(name, func(t *testing.T) {
			path := tokenFile(t, content)
			_, err := sandboxd.FileToken(path)
			if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), rootSecret) {
				t.Errorf("error %v, want one that names the file and not what is in it", err)
			}
		})
	}
	if _, err := sandboxd.FileToken(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v for a file that is not there", err)
	}
}

// refusal answers status to every token but accepted, and records the tokens.
type refusal struct {
	accepted string
	status   int

	mu        sync.Mutex
	presented []string
}

func (s *refusal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.presented = append(s.presented, token)
	s.mu.Unlock()
	if token != s.accepted {
		w.WriteHeader(s.status)
		return
	}
	_, _ = w.Write([]byte(`{"sandboxes":[]}`))
}

// A refused node API token is read again from its file once, never more, and
// the new one is then kept.
func TestRefusedTokenIsReadAgain(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for _, c := range []struct {
			name   string
			change func(t *testing.T, path string)
			calls  int
			want   []string
			class  sandboxd.Class
		}{
			{"rotated", func(t *testing.T, p string) { writeToken(t, p, "new\n") }, 2, []string{"old", "new", "new"}, ""},
			{"rotated to one refused too", func(t *testing.T, p string) { writeToken(t, p, "other") }, 1, []string{"old", "other"}, sandboxd.Unauthorized},
			{"unchanged", func(*testing.T, string) {}, 2, []string{"old", "old"}, sandboxd.Unauthorized},
			{"emptied", func(t *testing.T, p string) { writeToken(t, p, "") }, 1, []string{"old"}, sandboxd.Unauthorized},
			{"removed", func(t *testing.T, p string) {
				if err := os.Remove(p); err != nil {
					t.Fatal(err)
				}
			}, 1, []string{"old"}, sandboxd.Unauthorized},
		} {
			t.Run(http.StatusText(status)+" "+c.name, func(t *testing.T) {
				s := &refusal{accepted: "new", status: status}
				path := tokenFile(t, "old")
				source := fileToken(t, path)
				c.change(t, path)
				cl := serveWith(t, source, s.ServeHTTP)
				for range c.calls {
					if _, err := cl.List(t.Context()); sandboxd.ClassOf(err) != c.class || (err == nil) != (c.class == "") {
						t.Errorf("error %v, want class %q", err, c.class)
					}
				}
				if diff := cmp.Diff(c.want, s.presented); diff != "" {
					t.Errorf("tokens presented (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// A file that cannot be read for a while costs nothing once it can.
func TestTokenFileComesBack(t *testing.T) {
	s := &refusal{accepted: "new", status: http.StatusUnauthorized}
	path := tokenFile(t, "old")
	cl := serveWith(t, fileToken(t, path), s.ServeHTTP)
	writeToken(t, path, "")
	_, err := cl.List(t.Context())
	wantClass(t, err, sandboxd.Unauthorized)
	writeToken(t, path, "new")
	if _, err := cl.List(t.Context()); err != nil {
		t.Errorf("error %v after the file came back", err)
	}
}

// A token that changes all the time is not followed for ever.
func TestRefusedTokenIsReadAgainOnce(t *testing.T) {
	path := tokenFile(t, "0")
	asked := 0
	cl := serveWith(t, fileToken(t, path), func(w http.ResponseWriter, _ *http.Request) {
		if asked++; asked > 5 {
			return // an endless retry ends here
		}
		writeToken(t, path, strconv.Itoa(asked))
		w.WriteHeader(http.StatusUnauthorized)
	})
	_, err := cl.List(t.Context())
	wantClass(t, err, sandboxd.Unauthorized)
	if asked != 2 {
		t.Errorf("%d requests, want 2", asked)
	}
}

// Calls that are refused together all go on with the new token, not only the
// one that happens to read the file first.
func TestConcurrentRefusals(t *testing.T) {
	const callers = 8
	var arrived sync.WaitGroup
	arrived.Add(callers)
	s := &refusal{accepted: "new", status: http.StatusUnauthorized}
	path := tokenFile(t, "old")
	cl := serveWith(t, fileToken(t, path), func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer old" {
			arrived.Done()
			arrived.Wait() // refused only once all are on their way
		}
		s.ServeHTTP(w, r)
	})
	writeToken(t, path, "new")
	var calls sync.WaitGroup
	for range callers {
		calls.Go(func() {
			if _, err := cl.List(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

func TestStaticTokenIsNotTriedTwice(t *testing.T) {
	s := &refusal{accepted: "other", status: http.StatusUnauthorized}
	cl := serveWith(t, sandboxd.StaticToken(sandboxd.NewToken("old")), s.ServeHTTP)
	_, err := cl.List(t.Context())
	wantClass(t, err, sandboxd.Unauthorized)
	if diff := cmp.Diff([]string{"old"}, s.presented); diff != "" {
		t.Errorf("tokens presented (-want +got):\n%s", diff)
	}
}

// A release presents the sandbox's token and nothing else, whatever the
// answer, and its refusal says nothing about the node's.
func TestReleasePresentsTheSandboxToken(t *testing.T) {
	path := tokenFile(t, rootSecret)
	source := fileToken(t, path)
	writeToken(t, path, "rotated")
	for _, status := range []int{204, 401, 403, 404, 500} {
		var got []string
		cl := serveWith(t, source, func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
			w.WriteHeader(status)
		})
		if err := cl.Release(t.Context(), "sb_1", sandboxd.NewToken(sandboxSecret)); (err == nil) != (status == 204) {
			t.Errorf("status %d: error %v", status, err)
		}
		if diff := cmp.Diff([]string{"POST /v1/sandboxes/sb_1/release Bearer " + sandboxSecret}, got); diff != "" {
			t.Errorf("status %d: requests (-want +got):\n%s", status, diff)
		}
	}
	if got := source.Token().Reveal(); got != rootSecret {
		t.Errorf("the node API token was read again for a release: %q", got)
	}
}

// A release by id presents the node API token, follows its rotation, and takes
// 204 alone for a confirmation.
func TestReleaseByID(t *testing.T) {
	for _, c := range []struct {
		status int
		want   sandboxd.Class
	}{
		{204, ""}, {200, sandboxd.Unavailable}, {404, sandboxd.NotFound}, {403, sandboxd.Unauthorized}, {500, sandboxd.Unavailable},
	} {
		path := tokenFile(t, "old")
		source := fileToken(t, path)
		writeToken(t, path, "new")
		var got []string
		cl := serveWith(t, source, func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Method+" "+r.RequestURI+" "+r.Header.Get("Authorization"))
			if r.Header.Get("Authorization") != "Bearer new" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.WriteHeader(c.status)
		})
		if err := cl.ReleaseByID(t.Context(), "sb_1"); sandboxd.ClassOf(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("status %d: error %v, want class %q", c.status, err, c.want)
		}
		release := "POST /v1/sandboxes/sb_1/release Bearer "
		if diff := cmp.Diff([]string{release + "old", release + "new"}, got); diff != "" {
			t.Errorf("status %d: requests (-want +got):\n%s", c.status, diff)
		}
	}
}

func TestReleaseWithoutATokenSendsNone(t *testing.T) {
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			t.Errorf("header %q, want none", r.Header["Authorization"])
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	wantClass(t, cl.Release(t.Context(), "sb_1", sandboxd.Token{}), sandboxd.Unauthorized)
}

// Every operation presents the credential it is meant to.
func TestCredentialOfEachOperation(t *testing.T) {
	for _, o := range operations {
		want := "Bearer " + rootSecret
		if o.op == "release" {
			want = "Bearer " + sandboxSecret
		}
		t.Run(o.op, func(t *testing.T) {
			asked := false
			cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
				asked = true
				if got := r.Header.Get("Authorization"); got != want {
					t.Errorf("presents %q, want %q", got, want)
				}
				w.WriteHeader(http.StatusInternalServerError)
			})
			wantClass(t, o.call(t.Context(), cl), sandboxd.Unavailable)
			if !asked {
				t.Error("nothing was sent")
			}
		})
	}
}

func TestNoTokenSource(t *testing.T) {
	cl := serveWith(t, sandboxd.StaticToken{}, func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			t.Errorf("header %q, want none", r.Header["Authorization"])
		}
		_, _ = w.Write([]byte(`{"sandboxes":[]}`))
	})
	if _, err := cl.List(t.Context()); err != nil {
		t.Error(err)
	}
}
