// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/approval"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const approveHelp = `vk-sandbox approve lets the daemon of this host do what it waits for an operator
to decide. It writes a file beside the claims table, which the daemon takes up
within 5 seconds; without a running daemon, the next one does.

  place            accept this cluster and host as the claims table's place. The
                   daemon then decides every claim by the owners in this cluster,
                   and releases those whose owner is not in it
  missing-owners   release the claims that the running daemon holds because
                   their Pods and owners went missing together and no deletion
                   was seen. Each owner is read once more; a claim whose owner
                   is there again is kept. A daemon that starts later holds
                   them anew`

// approveOptions are the settings of the approve command.
type approveOptions struct{ statePath string }

func (o *approveOptions) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("approve")
	fs.StringVar(&o.statePath, "state-path", defaultStatePath, "the claims table's `file`")
	return sections
}

// newApproveCommand returns the command that writes an approval.
func newApproveCommand(getenv func(string) string) *cobra.Command {
	var o approveOptions
	approvals := map[string]func(io.Writer, string, time.Time) error{
		string(approval.Place): approvePlace, string(approval.MissingOwners): approveMissingOwners,
	}
	cmd := &cobra.Command{
		Use: "approve place|missing-owners", Short: "Let the daemon do what it waits for an operator to decide", Long: approveHelp,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: slices.Sorted(maps.Keys(approvals)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return program.UsageError(fmt.Errorf("say what to approve: %s or %s", approval.Place, approval.MissingOwners))
			}
			approve := approvals[args[0]]
			if approve == nil {
				return program.UnexpectedArguments(args, fmt.Sprintf(": want %s or %s", approval.Place, approval.MissingOwners))
			}
			if err := program.UnexpectedArguments(args[1:], ": approve one thing at a time"); err != nil {
				return err
			}
			origins, err := program.ReadEnvironment(cmd.Flags(), variables(), getenv)
			v := program.Validation{Origins: origins}
			v.Check("state-path", o.statePath, checkStatePath(o.statePath))
			if err := errors.Join(err, v.Err()); err != nil {
				return program.UsageError(err)
			}
			return withClaimsHint(approve(cmd.OutOrStdout(), o.statePath, time.Now()))
		},
	}
	program.AddFlags(cmd, o.flags(), variables())
	return cmd
}

// approvePlace approves exactly the mismatch that the daemon reported: it may find
// another one before it reads the approval.
func approvePlace(stdout io.Writer, statePath string, now time.Time) error {
	recorded, err := claimfile.ReadPlace(claimfile.OS(), statePath)
	if err != nil {
		return err
	}
	found, mismatch, err := place.ReadReport(claimfile.OS(), statePath, recorded)
	if err != nil {
		return err
	}
	if !mismatch {
		_, err := fmt.Fprintf(stdout, "Nothing to approve: no daemon has found this table elsewhere than where it belongs.\n%s", placeLine(recorded))
		return err
	}
	if err := approval.Write(claimfile.OS(), statePath, approval.Place, approval.Approval{At: now, Recorded: found.Recorded, Present: found.Present}); err != nil {
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

// approveMissingOwners approves the claims held now, not those held later.
func approveMissingOwners(stdout io.Writer, statePath string, now time.Time) error {
	if _, err := claimfile.ReadPlace(claimfile.OS(), statePath); err != nil {
		return err
	}
	if err := approval.Write(claimfile.OS(), statePath, approval.MissingOwners, approval.Approval{At: now}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stdout, "Approved: the release of the claims that are held at %s because their Pods and owners went missing together.\n"+
		"The daemon reads each owner once more within about a minute, and releases the claims of those that are gone.\n", now.UTC().Format(time.RFC3339))
	return err
}

// approvePlaceCommand is the command that an operator runs on the host to let the daemon
// use the table at statePath here.
func approvePlaceCommand(statePath string) string {
	return "vk-sandbox approve " + string(approval.Place) + " --state-path=" + statePath
}

// placeLine formats a table's place for people; empty for none.
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

// heldReleaser is the part of the provider that releases held claims.
type heldReleaser interface {
	HeldClaims() int
	ReleaseHeld(before time.Time)
}

// watchApprovals takes the approvals of missing owners until ctx ends. Each covers the
// claims whose owners were missing when it was given, and no later ones.
func watchApprovals(ctx context.Context, fsys claimfile.FS, statePath string, p heldReleaser) {
	approval.Watch(ctx, fsys, statePath, approval.MissingOwners, func(a approval.Approval) {
		klog.FromContext(ctx).Info("An operator has approved the release of the held claims; their owners are read once more first", "approvedAt", a.At, "held", p.HeldClaims())
		p.ReleaseHeld(a.At)
	})
}
