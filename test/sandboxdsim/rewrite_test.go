// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"encoding/json"
	"strings"
	"testing"
)

func fields(text string) (f map[string]json.RawMessage) {
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		panic(err)
	}
	return f
}

func TestRewriteOfAList(t *testing.T) {
	for name, tc := range map[string]struct {
		fault Fault
		want  string // the deadlines as JSON has them; "time" for one that was left alone
	}{
		"every row":        {Fault{Fields: fields(`{"deadline": ""}`)}, `"","",""`},
		"a number":         {Fault{Fields: fields(`{"deadline": 12}`)}, "12,12,12"},
		"removed":          {Fault{Fields: fields(`{"deadline": null}`)}, "none,none,none"},
		"one claim ref":    {Fault{Fields: fields(`{"deadline": ""}`), ClaimRefs: []string{"a/2"}}, `time,"",time`},
		"the oldest row":   {Fault{Fields: fields(`{"deadline": ""}`), Rows: 1}, `"",time,time`},
		"an unknown id":    {Fault{Fields: fields(`{"deadline": ""}`), Sandboxes: []string{"sb_none"}}, "time,time,time"},
		"another endpoint": {Fault{Fields: fields(`{"deadline": ""}`), Endpoint: "get"}, "time,time,time"},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, testConfig())
			for _, ref := range []string{"a/1", "a/2", "a/3"} {
				b.claim(claimBody(ref))
			}
			tc.fault.Action = ActionRewrite
			b.fault(tc.fault)
			list := decodeAs[struct{ Sandboxes []map[string]json.RawMessage }](b, b.want(200, "GET", "/v1/sandboxes", rootToken, "").body)
			var got []string
			for _, r := range list.Sandboxes {
				text := string(r["deadline"])
				switch {
				case text == "":
					text = "none"
				case len(text) > len(`"2006-01-02"`):
					text = "time"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ","); text != tc.want {
				t.Errorf("deadlines %s, want %s", text, tc.want)
			}
		})
	}
}

func TestRewriteOfAClaim(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Endpoint: "claim", Action: ActionRewrite, Fields: fields(`{"owner_addr": "fd00::5", "deadline": null}`), Count: 1})
	c := b.claim(claimBody("a/b"))
	if c.OwnerAddr != "fd00::5" || !c.Deadline.IsZero() || c.ID == "" || c.Token == "" {
		t.Errorf("claim %+v", c)
	}
	b.wantHistory(c.ID, "made claimed answered")
	if next := b.claim(claimBody("a/c")); next.OwnerAddr != "10.0.0.5:7777" || next.Deadline.IsZero() {
		t.Errorf("the next claim %+v", next)
	}
}

func TestRewriteLeavesErrorsAlone(t *testing.T) {
	b := start(t, testConfig())
	b.fault(Fault{Action: ActionRewrite, Fields: fields(`{"error": ""}`)})
	b.want(404, "GET", "/v1/sandboxes/sb_none", rootToken, "")
}

func TestFaultOfOneSandbox(t *testing.T) {
	b := start(t, testConfig())
	one, other := b.claim(claimBody("a/1")), b.claim(claimBody("a/2"))
	b.fault(Fault{Action: ActionStatus, Status: 500, Sandboxes: []string{one.ID}})
	b.want(500, "GET", "/v1/sandboxes/"+one.ID, rootToken, "")
	b.want(200, "GET", "/v1/sandboxes/"+other.ID, rootToken, "")
	if got := b.ids(); got != "a/1 a/2" {
		t.Errorf("a fault of one sandbox struck the list: %q", got)
	}
	b.ClearFaults()
	b.fault(Fault{Action: ActionOmit, Sandboxes: []string{one.ID}})
	if got := b.ids(); got != "a/2" {
		t.Errorf("listed %q, want the other alone", got)
	}
	b.want(404, "GET", "/v1/sandboxes/"+one.ID, rootToken, "")
	b.want(200, "GET", "/v1/sandboxes/"+other.ID, rootToken, "")
}

func TestRejectSandboxToken(t *testing.T) {
	b := start(t, testConfig())
	c := b.claim(claimBody("a/b"))
	b.fault(Fault{Action: ActionRejectSandboxToken})
	b.want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
	if b.ids() != "a/b" {
		t.Fatal("the sandbox is gone")
	}
	b.want(204, "POST", "/v1/sandboxes/"+c.ID+"/release", rootToken, "")
	b.wantHistory(c.ID, "made claimed answered released")
}
