// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// commandApprove is the word that calls for an approval instead of the daemon.
const commandApprove = "approve"

const approveHelp = `vk-sandbox approve lets the daemon of this host do what it waits for an operator
to decide. It writes a file beside the claims table, which the daemon takes up
within 5 seconds; without a running daemon, the next one does.

  place            accept this cluster and host as the claims table's place. The
                   daemon then judges every claim by the owners in this cluster,
                   and releases those whose owner is not in it
  missing-owners   release the claims that the running daemon holds because
                   their Pods and owners went missing together and no deletion
                   was seen. Each owner is read once more; a claim whose owner
                   is there again is kept. A daemon that starts later holds
                   them anew

Usage: vk-sandbox approve place|missing-owners [flags]

`

// approveOptions are the settings of the approve command.
type approveOptions struct{ statePath string }

// approveSettings lists them. Each writes into o.
func approveSettings(o *approveOptions) []setting {
	return []setting{
		{"", "state-path", "VK_STATE_PATH", "/var/lib/vk-sandbox/claims.json",
			"the claims table's file [VK_STATE_PATH]", bind(&o.statePath, "file", parseStatePath)},
		{"", "help", "", "false",
			"print this text and exit", bind(new(bool), "bool", parseBool)},
	}
}

// executeApprove is the approve command: it returns the exit code.
func executeApprove(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	kinds := map[string]func(io.Writer, string, time.Time) error{
		string(approval.Place): approvePlace, string(approval.MissingOwners): approveMissingOwners,
	}
	var approve func(io.Writer, string, time.Time) error
	if i := slices.IndexFunc(args, func(arg string) bool { return kinds[arg] != nil }); i >= 0 {
		approve = kinds[args[i]]
		args = slices.Delete(slices.Clone(args), i, i+1)
	}
	var o approveOptions
	if code, run := parseCommand(commandApprove, approveHelp, approveSettings(&o), args, getenv, stdout, stderr); !run {
		return code
	}
	if approve == nil {
		return refuse(commandApprove, fmt.Errorf("say what to approve: %s or %s", approval.Place, approval.MissingOwners), stderr)
	}
	if err := approve(stdout, o.statePath, time.Now()); err != nil {
		fmt.Fprintf(stderr, "vk-sandbox approve: %v%s\n", err, claimsHint(err))
		return exitError
	}
	return exitOK
}

// approvePlace approves the mismatch that the daemon has found, and no other: it may
// have found something else by the time that it reads the approval.
func approvePlace(stdout io.Writer, statePath string, now time.Time) error {
	recorded, err := claims.ReadPlace(claims.OS(), statePath)
	if err != nil {
		return err
	}
	found, mismatch, err := place.ReadReport(claims.OS(), statePath, recorded)
	if err != nil {
		return err
	}
	if !mismatch {
		_, err := fmt.Fprintf(stdout, "Nothing to approve: no daemon has found this table elsewhere than where it belongs.\n%s", placeLine(recorded))
		return err
	}
	if err := approval.Write(claims.OS(), statePath, approval.Place, approval.Approval{At: now, Recorded: found.Recorded, Present: found.Present}); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("Approved: the daemon may use the claims table here.\n")
	fmt.Fprintf(&b, "from: %s\nto:   %s\n", placeText(found.Recorded), placeText(found.Present))
	b.WriteString("Claims whose owners are not in this cluster are going to be released. To take the approval back before the daemon\n" +
		"has taken it up, which takes 5 seconds, delete " + approval.Path(statePath, approval.Place) + ".\n")
	_, err = io.WriteString(stdout, b.String())
	return err
}

// approveMissingOwners approves what is held now; what is held later is not covered.
func approveMissingOwners(stdout io.Writer, statePath string, now time.Time) error {
	if _, err := claims.ReadPlace(claims.OS(), statePath); err != nil {
		return err
	}
	if err := approval.Write(claims.OS(), statePath, approval.MissingOwners, approval.Approval{At: now}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "Approved: the release of the claims that are held at %s because their Pods and owners went missing together.\n"+
		"The daemon reads each owner once more within about a minute, and releases the claims of those that are gone.\n", now.UTC().Format(time.RFC3339))
	return err
}

// placeLine is a table's place for people; empty for none.
func placeLine(p claims.Place) string {
	if p == (claims.Place{}) {
		return ""
	}
	return "The claims table belongs to " + placeText(p) + ".\n"
}

func placeText(p claims.Place) string {
	return fmt.Sprintf("cluster %s, host %s", printable(orUnknown(string(p.Cluster))), printable(orUnknown(p.Host)))
}

func orUnknown(id string) string {
	if id == "" {
		return "unknown"
	}
	return id
}
