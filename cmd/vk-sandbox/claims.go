// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// commandClaims is the word that calls for the claims instead of the daemon.
const commandClaims = "claims"

const claimsHelp = `vk-sandbox claims prints the claims of this host from the claims table's file,
without their release tokens: for the hour in which the API server is away. It
only reads, and works beside a running daemon.

The file does not say what a daemon has heard from sandboxd since: a claim that a
daemon keeps in quarantine shows the state that it had before.

It also prints the cluster and the host that the table belongs to, and while the
daemon waits because it found the table elsewhere, how to accept that.

Usage: vk-sandbox claims [flags]

`

// claimsOptions are the settings of the claims command.
type claimsOptions struct {
	statePath string
	print     printer
}

// claimsSettings lists them. Each writes into o.
func claimsSettings(o *claimsOptions) []setting {
	return []setting{
		{"", "state-path", "VK_STATE_PATH", "/var/lib/vk-sandbox/claims.json",
			"the claims table's file [VK_STATE_PATH]", bind(&o.statePath, "file", parseStatePath)},
		{"", "output", "", outputTable,
			"output format: table, json or yaml", bind(&o.print, "format", parseOutput)},
		{"", "help", "", "false",
			"print this text and exit", bind(new(bool), "bool", parseBool)},
	}
}

// executeClaims is the claims command: it returns the exit code.
func executeClaims(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	var o claimsOptions
	if code, run := parseCommand(commandClaims, claimsHelp, claimsSettings(&o), args, getenv, stdout, stderr); !run {
		return code
	}
	report, err := readClaims(o.statePath)
	if err == nil {
		err = o.print(stdout, report)
	}
	if err != nil {
		fmt.Fprintf(stderr, "vk-sandbox claims: %v%s\n", err, claimsHint(err))
		return exitError
	}
	return exitOK
}

// claimsReport is what the command prints: a NodeClaimStatus' status, and what only
// the host knows.
type claimsReport struct {
	api.NodeClaimStatusStatus `json:",inline"`
	// Place is the one that the table has recorded; nil when it has none.
	Place *claims.Place `json:"place,omitempty"`
	// NotAccepted is set while the daemon waits because the table belongs elsewhere.
	NotAccepted *notAccepted `json:"notAccepted,omitempty"`
}

// notAccepted is why the daemon does not use the table, and what to do.
type notAccepted struct {
	Reason  place.State  `json:"reason"`
	Message string       `json:"message"`
	Present claims.Place `json:"present"`
	Accept  string       `json:"accept"`
}

func readClaims(statePath string) (claimsReport, error) {
	rows, err := claims.Read(claims.OS(), statePath)
	if err != nil {
		return claimsReport{}, err
	}
	r := claimsReport{NodeClaimStatusStatus: summary(rows)}
	recorded, err := claims.ReadPlace(claims.OS(), statePath)
	if err != nil {
		return claimsReport{}, err
	}
	if recorded != (claims.Place{}) {
		r.Place = &recorded
	}
	found, mismatch, err := place.ReadReport(claims.OS(), statePath, recorded)
	if err == nil && mismatch {
		r.NotAccepted = &notAccepted{Reason: found.State, Message: found.String(), Present: found.Present, Accept: place.ApproveCommand(statePath)}
	}
	return r, err
}

// summary is the rows as a NodeClaimStatus has them, all of them.
func summary(rows []claims.Claim) api.NodeClaimStatusStatus {
	redacted := make([]api.NodeClaim, 0, len(rows))
	for _, row := range rows {
		redacted = append(redacted, claimstatus.Redact(row, ""))
	}
	return claimstatus.Summarize(redacted)
}

// claimsHint says what to do where the file system's own words do not.
func claimsHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "; no daemon has kept a table there, or --state-path is not the daemon's"
	case errors.Is(err, fs.ErrPermission):
		return "; the file is for root only, because it holds release tokens: run this as root"
	default:
		return ""
	}
}
