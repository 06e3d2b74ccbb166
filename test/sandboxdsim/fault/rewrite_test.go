// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/simtest"
)

func fields(text string) (f map[string]json.RawMessage) {
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		panic(err)
	}
	return f
}

func TestRewriteOfAList(t *testing.T) {
	for name, tc := range map[string]struct {
		fault fault.Fault
		want  string // the deadlines as JSON has them; "time" for one that was left alone
	}{
		"every row":        {fault.Fault{Fields: fields(`{"deadline": ""}`)}, `"","",""`},
		"a number":         {fault.Fault{Fields: fields(`{"deadline": 12}`)}, "12,12,12"},
		"removed":          {fault.Fault{Fields: fields(`{"deadline": null}`)}, "none,none,none"},
		"one claim ref":    {fault.Fault{Fields: fields(`{"deadline": ""}`), ClaimRefs: []string{"a/2"}}, `time,"",time`},
		"the oldest row":   {fault.Fault{Fields: fields(`{"deadline": ""}`), Rows: 1}, `"",time,time`},
		"an unknown id":    {fault.Fault{Fields: fields(`{"deadline": ""}`), Sandboxes: []string{"sb_none"}}, "time,time,time"},
		"another endpoint": {fault.Fault{Fields: fields(`{"deadline": ""}`), Endpoint: "get"}, "time,time,time"},
	} {
		t.Run(name, func(t *testing.T) {
			b := simtest.Start(t, simtest.Config())
			for _, ref := range []string{"a/1", "a/2", "a/3"} {
				b.Claim(simtest.ClaimBody(ref))
			}
			tc.fault.Action = fault.ActionRewrite
			b.AddFault(tc.fault)
			list := simtest.Decode[struct{ Sandboxes []map[string]json.RawMessage }](b, b.Want(200, "GET", "/v1/sandboxes", simtest.RootToken, "").Body)
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
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Endpoint: "claim", Action: fault.ActionRewrite, Fields: fields(`{"owner_addr": "fd00::5", "deadline": null}`), Count: 1})
	c := b.Claim(simtest.ClaimBody("a/b"))
	if c.OwnerAddr != "fd00::5" || !c.Deadline.IsZero() || c.ID == "" || c.Token == "" {
		t.Errorf("claim %+v", c)
	}
	b.WantHistory(c.ID, "made claimed answered")
	if next := b.Claim(simtest.ClaimBody("a/c")); next.OwnerAddr != "10.0.0.5:7777" || next.Deadline.IsZero() {
		t.Errorf("the next claim %+v", next)
	}
}

func TestRewriteLeavesErrorsAlone(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	b.AddFault(fault.Fault{Action: fault.ActionRewrite, Fields: fields(`{"error": ""}`)})
	b.Want(404, "GET", "/v1/sandboxes/sb_none", simtest.RootToken, "")
}

func TestFaultOfOneSandbox(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	one, other := b.Claim(simtest.ClaimBody("a/1")), b.Claim(simtest.ClaimBody("a/2"))
	b.AddFault(fault.Fault{Action: fault.ActionStatus, Status: 500, Sandboxes: []string{one.ID}})
	b.Want(500, "GET", "/v1/sandboxes/"+one.ID, simtest.RootToken, "")
	b.Want(200, "GET", "/v1/sandboxes/"+other.ID, simtest.RootToken, "")
	if got := b.Refs(); got != "a/1 a/2" {
		t.Errorf("a fault of one sandbox struck the list: %q", got)
	}
	b.Faults.Clear()
	b.AddFault(fault.Fault{Action: fault.ActionOmit, Sandboxes: []string{one.ID}})
	if got := b.Refs(); got != "a/2" {
		t.Errorf("listed %q, want the other alone", got)
	}
	b.Want(404, "GET", "/v1/sandboxes/"+one.ID, simtest.RootToken, "")
	b.Want(200, "GET", "/v1/sandboxes/"+other.ID, simtest.RootToken, "")
}

func TestRejectSandboxToken(t *testing.T) {
	b := simtest.Start(t, simtest.Config())
	c := b.Claim(simtest.ClaimBody("a/b"))
	b.AddFault(fault.Fault{Action: fault.ActionRejectSandboxToken})
	b.Want(404, "POST", "/v1/sandboxes/"+c.ID+"/release", c.Token, "")
	if b.Refs() != "a/b" {
		t.Fatal("the sandbox is gone")
	}
	b.Want(204, "POST", "/v1/sandboxes/"+c.ID+"/release", simtest.RootToken, "")
	b.WantHistory(c.ID, "made claimed answered released")
}
