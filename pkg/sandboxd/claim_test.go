// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

var equateTokens = cmp.Comparer(func(a, b sandboxd.Token) bool { return a == b })

func TestClaimRequestOnTheWire(t *testing.T) {
	for _, c := range []struct {
		name string
		req  sandboxd.ClaimRequest
		want string
	}{
		{
			"everything",
			sandboxd.ClaimRequest{Template: "rt:24.04", Net: "none", Size: "small", TTLSeconds: 86400, ClaimRef: "team-red/notebook-a"},
			`{"template":"rt:24.04","net":"none","size":"small","ttl_seconds":86400,"claim_ref":"team-red/notebook-a"}`,
		},
		{"axes left to sandboxd, a lease of 0 sent", sandboxd.ClaimRequest{Template: "rt:24.04"}, `{"template":"rt:24.04","ttl_seconds":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			_, err := cl.Claim(t.Context(), c.req)
			wantClass(t, err, sandboxd.NoCapacity)
			if got.Method != http.MethodPost || got.RequestURI != "/v1/claim" {
				t.Errorf("%s %s, want POST /v1/claim", got.Method, got.RequestURI)
			}
			if h := got.Header; h.Get("Content-Type") != "application/json" || h.Get("Authorization") != "Bearer "+rootSecret {
				t.Errorf("headers %v, want JSON and the node API token", h)
			}
			if string(body) != c.want {
				t.Errorf("body %s, want %s", body, c.want)
			}
		})
	}
}

func TestClaimAnswer(t *testing.T) {
	deadline := time.Date(2026, 7, 28, 2, 15, 0, 0, time.UTC)
	whole := sandboxd.Claim{ID: "sb_1", Token: sandboxd.NewToken("t"), Deadline: deadline, OwnerAddr: "10.0.0.5:7777"}
	noDeadline := whole
	noDeadline.Deadline = time.Time{}
	long := strings.Repeat("a", 300)
	address := func(a string) sandboxd.Claim { c := whole; c.OwnerAddr = a; return c }
	for _, c := range []struct {
		name  string
		body  string
		want  sandboxd.Claim
		class sandboxd.Class
	}{
		{"whole", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777"}`, whole, ""},
		{"whole, with what newer daemons add", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777","template_digest":"x","from_checkpoint":"y","volumes":[{}]}`, whole, ""},
		{"a sandbox beside a redirect", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777","redirect":["10.0.0.6:7777"]}`, whole, ""},
		{"host name", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"host-07:7777"}`, address("host-07:7777"), ""},
		{"IPv6", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"[fd00::5]:7777"}`, address("[fd00::5]:7777"), ""},
		{"no deadline", `{"id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"null deadline", `{"id":"sb_1","token":"t","deadline":null,"owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},

		{"redirect", `{"redirect":["10.0.0.6:7777"]}`, sandboxd.Claim{}, sandboxd.NoCapacity},
		{"redirect that requires promotion", `{"redirect":["10.0.0.6:7777"],"require_promoted":true}`, sandboxd.Claim{}, sandboxd.NoCapacity},
		{"redirect to nobody", `{"redirect":[]}`, sandboxd.Claim{}, sandboxd.Unavailable},

		// Fields that cost no sandbox.
		{"no address", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z"}`, address(""), ""},
		{"empty address", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":""}`, address(""), ""},
		{"null address", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":null}`, address(""), ""},
		{"address that is no text", `{"owner_addr":7777,"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z"}`, address(""), ""},
		{"address as long as allowed", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"` + long + `"}`, address(long), ""},
		{"address that is too long", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"` + long + `a"}`, address(""), ""},
		{"address that is not UTF-8", "{\"id\":\"sb_1\",\"token\":\"t\",\"deadline\":\"2026-07-28T02:15:00Z\",\"owner_addr\":\"a\xffb\"}", address("a\ufffdb"), ""},
		{"address without a port", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5"}`, address("10.0.0.5"), ""},
		{"address without a host", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":":7777"}`, address(":7777"), ""},
		{"unspecified address", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"0.0.0.0:7777"}`, address("0.0.0.0:7777"), ""},
		{"bare IPv6", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"fd00::5"}`, address("fd00::5"), ""},
		{"IPv6 without brackets", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"fd00::5:7777"}`, address("fd00::5:7777"), ""},
		{"deadline that is no time", `{"deadline":"tomorrow","id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"empty deadline", `{"deadline":"","id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"deadline that is no text", `{"deadline":1785204900,"id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"deadline whose offset cannot be written", `{"deadline":"2026-07-29T02:15:00+24:00","id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, whole, ""},
		{"deadline after the year 9999", `{"deadline":"9999-12-31T23:59:59-01:00","id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"deadline before the year 0", `{"deadline":"0000-01-01T00:00:00+01:00","id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}`, noDeadline, ""},
		{"redirect that is no list", `{"redirect":"10.0.0.6:7777","id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777"}`, whole, ""},
		{"id given twice", `{"id":"sb_1","token":"t","deadline":"2026-07-28T02:15:00Z","owner_addr":"10.0.0.5:7777","id":7}`, whole, ""},

		// Nothing that could be given back.
		{"no id", `{"token":"t","owner_addr":"10.0.0.5:7777"}`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"no token", `{"id":"sb_1","owner_addr":"10.0.0.5:7777"}`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"token that no header carries", `{"id":"sb_1","token":"t\r\nX-A: b","owner_addr":"10.0.0.5:7777"}`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"id that no path carries", `{"id":"..","token":"t","owner_addr":"10.0.0.5:7777"}`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"empty object", `{}`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"null", `null`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"list", `[]`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"empty body", ``, sandboxd.Claim{}, sandboxd.Unavailable},
		{"HTML", `<html><body>it works</body></html>`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"cut short", `{"id":"sb_1","token":"t","owner_addr":"10.0.`, sandboxd.Claim{}, sandboxd.Unavailable},
		{"two documents", `{"id":"sb_1","token":"t","owner_addr":"10.0.0.5:7777"}{}`, sandboxd.Claim{}, sandboxd.Unavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := serve(t, answer(http.StatusOK, c.body)).Claim(t.Context(), sandboxd.ClaimRequest{Template: "rt:24.04"})
			if class := sandboxd.ClassOf(err); class != c.class || (err == nil) != (c.class == "") {
				t.Errorf("error %v, want class %q", err, c.class)
			}
			if diff := cmp.Diff(c.want, got, equateTokens); diff != "" {
				t.Errorf("claim (-want +got):\n%s", diff)
			}
			if _, err := json.Marshal(got.Deadline); err != nil {
				t.Errorf("the deadline cannot be written again: %v", err)
			}
		})
	}
}

func TestTokenOfAClaimIsReadWhole(t *testing.T) {
	body, err := json.Marshal(map[string]string{"id": "sb_1", "token": sandboxSecret, "owner_addr": "10.0.0.5:7777"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := serve(t, answer(http.StatusOK, string(body))).Claim(t.Context(), sandboxd.ClaimRequest{Template: "rt:24.04"})
	if err != nil || got.Token.Reveal() != sandboxSecret {
		t.Errorf("token %q, error %v; want %q", got.Token.Reveal(), err, sandboxSecret)
	}
}

// An answer that never came leaves the outcome open. One whose status did come
// does not, even when its body is cut.
func TestLostAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		raw  string
		want sandboxd.Class
	}{
		{"nothing", "", sandboxd.Unreachable},
		{"half a status line", "HTTP/1.1 20", sandboxd.Unreachable},
		{"header cut", "HTTP/1.1 200 OK\r\nContent-Le", sandboxd.Unreachable},
		{"body cut", "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{\"id\":\"sb_1\",", sandboxd.Unreachable},
		{"chunk cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n{\"id\":", sandboxd.Unreachable},
		{"not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", sandboxd.Unreachable},
		{"429 with its body cut", "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 400\r\n\r\n{\"err", sandboxd.NoCapacity},
		{"400 with its body cut", "HTTP/1.1 400 Bad Request\r\nContent-Length: 400\r\n\r\n{\"err", sandboxd.Invalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := serve(t, raw(c.raw))
			got, err := cl.Claim(t.Context(), sandboxd.ClaimRequest{Template: "rt:24.04"})
			wantClass(t, err, c.want)
			if got.ID != "" {
				t.Errorf("claim %v beside a lost answer, want none", got)
			}
			if c.want == sandboxd.Unreachable {
				_, err = cl.List(t.Context())
				wantClass(t, err, sandboxd.Unreachable)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	refused := errors.New("refused")
	cl := newClient(t, sandboxd.Config{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, refused })})
	for _, o := range operations {
		wantClass(t, o.call(t.Context(), cl), sandboxd.Unreachable)
	}
}

// raw answers with bytes, whatever they are, and closes the connection.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buf, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.Copy(buf, bytes.NewReader([]byte(text)))
		_ = buf.Flush()
	}
}
