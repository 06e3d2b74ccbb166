// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/secretscan"
)

// remoteText is in every answer of the servers below, together with the token of the
// request.
const remoteText = "REMOTE-TEXT-e41c09"

// echoed is the part of a request that a server repeats.
func echoed(r *http.Request) string { return remoteText + " " + r.Header.Get("Authorization") }

// echoes are servers that repeat the bearer token in every part of an answer.
func echoes() map[string]http.HandlerFunc {
	all := map[string]http.HandlerFunc{
		"instead of HTTP":    rawEcho("%s\r\n\r\n"),
		"in the status":      rawEcho("HTTP/1.1 %s\r\n\r\n"),
		"in the reason":      rawEcho("HTTP/1.1 500 %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
		"in the version":     rawEcho("HTTP/%s 200 OK\r\n\r\n"),
		"as a broken header": rawEcho("HTTP/1.1 200 OK\r\n%s\r\n\r\n"),
		"in the length":      rawEcho("HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\n"),
		"in the encoding":    rawEcho("HTTP/1.1 200 OK\r\nTransfer-Encoding: %s\r\n\r\n"),
		"as a chunk length":  rawEcho("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n"),
		"in a bad location":  rawEcho("HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\nLocation: http://[%s\r\n\r\n"),
	}
	for _, status := range []int{200, 202, 307, 400, 401, 403, 404, 409, 418, 429, 500, 503} {
		for kind, form := range map[string]string{"text": "%s", "JSON error": `{"error":%q}`, "JSON fields": `{"id":"","sandboxes":%[1]q,"deadline":%[1]q,"pools":%[1]q,"redirect":%[1]q}`} {
			all[fmt.Sprint("in a ", kind, " with status ", status)] = func(w http.ResponseWriter, r *http.Request) {
				for _, h := range []string{"Retry-After", "Location", "Www-Authenticate", "X-Request-Id", "Warning", "Set-Cookie"} {
					w.Header().Set(h, echoed(r))
				}
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, form, echoed(r))
			}
		}
	}
	return all
}

func rawEcho(form string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { raw(fmt.Sprintf(form, echoed(r)))(w, r) }
}

// No error and no log line contains the remote's text or a token, and no error the URL.
// An error's text does not change when the call is repeated.
func TestNothingRemoteIsShown(t *testing.T) {
	for name, echo := range echoes() {
		s := httptest.NewServer(echo)
		defer s.Close()
		path := tokenFile(t, "before-the-rotation")
		source := fileToken(t, path)
		writeToken(t, path, rootSecret)
		cl := newClient(t, sandboxd.Config{URL: s.URL, Token: source})
		for _, o := range operations {
			t.Run(o.op+" "+name, func(t *testing.T) {
				var log bytes.Buffer
				logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&log), textlogger.Verbosity(10)))
				ctx := klog.NewContext(t.Context(), logger)
				err := o.call(ctx, cl)
				if err == nil {
					if o.op == "healthz" || o.op == "info" {
						return // these accept any 2xx answer, or any object
					}
					t.Fatal("no error")
				}
				if again := o.call(ctx, cl); again == nil || again.Error() != err.Error() {
					t.Errorf("the text changes: %q, then %v", err, again)
				}
				wrapped := fmt.Errorf("team-red/notebook-a: %w", errors.Join(err, errors.New("and another")))
				logger.Error(wrapped, "call failed", "err", err, "value", *errorOf(t, err))
				var shown strings.Builder
				for _, e := range []error{err, wrapped} {
					fmt.Fprintf(&shown, "%v %+v %s %q\n", e, e, e, e)
				}
				fmt.Fprintf(&shown, "%#v\n%+v\n", err, *errorOf(t, err))
				if strings.Contains(shown.String(), s.Listener.Addr().String()) {
					t.Errorf("an error has the URL: %s", &shown)
				}
				for u := err; u != nil; u = errors.Unwrap(u) {
					fmt.Fprintf(&shown, "%v %+v %#v\n", u, u, u)
				}
				shown.Write(log.Bytes())
				for _, secret := range []string{remoteText, rootSecret, sandboxSecret, "before-the-rotation"} {
					if forms := secretscan.Find(shown.String(), secret); forms != nil {
						t.Errorf("%q is shown, as %q:\n%s", secret, forms, &shown)
					}
				}
			})
		}
	}
}

func errorOf(t *testing.T, err error) *sandboxd.Error {
	t.Helper()
	var e *sandboxd.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T is no failed call", err)
	}
	return e
}

// Without a listener the text is constant too, and contains no ephemeral port.
func TestRefusedConnectionIsConstant(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	cl := newClient(t, sandboxd.Config{URL: s.URL})
	for _, o := range operations {
		err := o.call(t.Context(), cl)
		wantClass(t, err, sandboxd.Unreachable)
		if want := "sandboxd " + o.op + ": sandboxd unreachable; check that sandboxd runs and that its URL is right"; err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// A URL can hold a password; it belongs into the token file.
func TestURLWithAPasswordIsRefusedUnseen(t *testing.T) {
	for _, u := range []string{
		"http://root:" + rootSecret + "@127.0.0.1:7777", "http://" + rootSecret + "@127.0.0.1:7777",
		"http://root:" + rootSecret + "/@127.0.0.1:7777", "ftp://root:" + rootSecret + "@127.0.0.1:7777", "http://root:" + rootSecret + "@%zz",
	} {
		_, err := sandboxd.NewClient(sandboxd.Config{URL: u})
		if err == nil || strings.Contains(err.Error(), rootSecret) {
			t.Errorf("error %v, want one without the password", err)
		}
	}
}
