// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package secretscan_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
	"github.com/cocoonstack/vk-sandbox/test/secretscan"
)

const (
	crashVariable = "SECRETSCAN_CRASH"
	token         = "SECRET-token-59ce02d17b"
)

// crashes end a program in ways that print what it was working with.
func crashes() map[string]func(claims.Claim) {
	return map[string]func(claims.Claim){
		"with a claim":          func(c claims.Claim) { panic(c) },
		"with a pointer to one": func(c claims.Claim) { panic(&c) },
		"with a token":          func(c claims.Claim) { panic(c.Token) },
		"with a claim in text":  func(c claims.Claim) { panic(fmt.Sprintf("%v %+v %#v", c, c, c)) },
		"with an error":         func(c claims.Claim) { panic(fmt.Errorf("claim %+v: %w", c, errors.New("x"))) },
		"with all goroutines": func(c claims.Claim) {
			hold := make(chan claims.Claim)
			go func(c claims.Claim, token sandboxd.Token) { hold <- c; _ = token }(c, c.Token)
			time.Sleep(10 * time.Millisecond)
			fmt.Fprintln(os.Stderr, c.Owner.Name) // there is no owner
		},
	}
}

// A crash report has no token: the report of each crash is that of a process
// of its own.
func TestCrashReports(t *testing.T) {
	if name := os.Getenv(crashVariable); name != "" {
		crashes()[name](claimOf(t))
		t.Fatal("did not crash")
	}
	for name := range crashes() {
		t.Run(name, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashReports$")
			child.Env = append(os.Environ(), crashVariable+"="+name, "GOTRACEBACK=all")
			out, err := child.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "goroutine ") {
				t.Fatalf("no crash report: %v\n%s", err, out)
			}
			if forms := secretscan.Find(string(out), token); forms != nil {
				t.Errorf("the crash report has the token, as %q:\n%s", forms, out)
			}
		})
	}
}

// claimOf is a claim as a running daemon has it.
func claimOf(t *testing.T) claims.Claim {
	table, err := claims.Open(claimfile.New(faultfs.New(), "/state/claims.json"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	row := claims.NewRow(sandboxd.Claim{ID: "sb_1", Token: sandboxd.NewToken(token), OwnerAddr: "10.0.0.5:1"}, claims.Holder{PodUID: "pod"}, time.Now())
	if err := table.Add("team-red/a", row, nil); err != nil {
		t.Fatal(err)
	}
	c, _ := table.Get("team-red/a")
	return c
}
