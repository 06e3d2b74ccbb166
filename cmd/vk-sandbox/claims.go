// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cliflag "k8s.io/component-base/cli/flag"
	"sigs.k8s.io/yaml"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/claimstatus"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const claimsHelp = `vk-sandbox claims prints the claims of this host from the claims table's file,
without their release tokens: for the hour in which the API server is away. It
only reads, and works beside a running daemon.

The file does not say what a daemon has heard from sandboxd since: a claim that a
daemon keeps in quarantine shows the state that it had before.

It also prints the cluster and the host that the table belongs to, and while the
daemon waits because it found the table elsewhere, how to accept that.`

// claimsOptions are the settings of the claims command.
type claimsOptions struct{ statePath, output string }

func (o *claimsOptions) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("claims")
	fs.StringVar(&o.statePath, "state-path", defaultStatePath, "the claims table's `file`")
	fs.StringVarP(&o.output, "output", "o", "table", "output `format`: table, json or yaml")
	return sections
}

// newClaimsCommand returns the command that prints the claims.
func newClaimsCommand(getenv func(string) string) *cobra.Command {
	var o claimsOptions
	cmd := &cobra.Command{
		Use: "claims", Short: "Print this host's claims from their file", Long: claimsHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.UnexpectedArguments(args, ""); err != nil {
				return err
			}
			write, err := o.finish(cmd.Flags(), getenv)
			if err != nil {
				return program.UsageError(err)
			}
			report, err := readClaims(o.statePath)
			if err == nil {
				err = write(cmd.OutOrStdout(), report)
			}
			return withClaimsHint(err)
		},
	}
	program.AddFlags(cmd, o.flags(), variables())
	return cmd
}

// finish reads the environment for flags that were not given, and returns the printer of
// the chosen format.
func (o *claimsOptions) finish(flags *pflag.FlagSet, getenv func(string) string) (printer, error) {
	origins, err := program.ReadEnvironment(flags, variables(), getenv)
	v := program.Validation{Origins: origins}
	v.Check("state-path", o.statePath, checkStatePath(o.statePath))
	write := map[string]printer{"table": printTable, "json": printJSON, "yaml": printYAML}[o.output]
	if write == nil {
		v.Check("output", o.output, errors.New("want table, json or yaml"))
	}
	return write, errors.Join(err, v.Err())
}

// claimsReport is the output of the command: a NodeClaimStatus' status, and what only the
// host knows.
type claimsReport struct {
	api.NodeClaimStatusStatus `json:",inline"`
	// Place is the table's recorded place; nil if it has none.
	Place *claims.Place `json:"place,omitempty"`
	// NotAccepted is set while the daemon waits because the table belongs to another
	// place.
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
	rows, err := claimfile.Read(claimfile.OS(), statePath)
	if err != nil {
		return claimsReport{}, err
	}
	r := claimsReport{NodeClaimStatusStatus: summary(rows)}
	recorded, err := claimfile.ReadPlace(claimfile.OS(), statePath)
	if err != nil {
		return claimsReport{}, err
	}
	if recorded != (claims.Place{}) {
		r.Place = &recorded
	}
	found, mismatch, err := place.ReadReport(claimfile.OS(), statePath, recorded)
	if err == nil && mismatch {
		r.NotAccepted = &notAccepted{Reason: found.State, Message: found.String(), Present: found.Present, Accept: approvePlaceCommand(statePath)}
	}
	return r, err
}

// summary returns all rows in the form of a NodeClaimStatus.
func summary(rows []claims.Claim) api.NodeClaimStatusStatus {
	redacted := make([]api.NodeClaim, 0, len(rows))
	for _, row := range rows {
		redacted = append(redacted, claimstatus.Redact(row, ""))
	}
	return claimstatus.Summarize(redacted)
}

// withClaimsHint adds what to do if the file system's error does not explain it.
func withClaimsHint(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; no daemon has written a table there, or --state-path is not the daemon's", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; the file is for root only, because it holds release tokens: run this as root", err)
	default:
		return err
	}
}

// printer writes claims in one format.
type printer func(io.Writer, claimsReport) error

func printJSON(w io.Writer, s claimsReport) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}

func printYAML(w io.Writer, s claimsReport) error {
	text, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func printTable(w io.Writer, s claimsReport) error {
	if err := printRows(w, s); err != nil {
		return err
	}
	var b strings.Builder
	if s.Place != nil {
		b.WriteString("\n" + placeLine(*s.Place))
	}
	if n := s.NotAccepted; n != nil {
		fmt.Fprintf(&b, "\nNOT ACCEPTED HERE (%s): %s.\nTo accept cluster and host as they are here: %s\n", n.Reason, printable(n.Message), n.Accept)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func printRows(w io.Writer, s claimsReport) error {
	if len(s.Claims) == 0 {
		_, err := fmt.Fprintln(w, "No claims.")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "POD\tSTATE\tID\tADDRESS\tOWNER\tCLAIMED\tDEADLINE")
	for _, c := range s.Claims {
		owner := ""
		if c.Owner != nil {
			owner = c.Owner.Kind + "/" + c.Owner.Name
		}
		state := string(c.State)
		if c.Unadoptable {
			state += " (unadoptable)"
		}
		cells := []string{c.Pod, state, c.ID, c.Address, owner, stamp(c.ClaimedAt), stamp(c.Deadline)}
		for i, cell := range cells {
			cells[i] = printable(cell)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}

func stamp(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// printable escapes characters of other programs that would move the terminal's cursor.
func printable(cell string) string {
	if cell == "" {
		return "<none>"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, cell)
}
