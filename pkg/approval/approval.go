// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package approval passes an operator's decision to a running daemon, in a file beside
// the claims table. Whoever can write there can read the release tokens in the table, so
// an approval needs no credential of its own.
//
// There is one file for each kind, so that two approvals do not replace each other. It is
// written atomically, with mode 0600.
package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
)

// Kind is the subject of an approval.
type Kind string

// The kinds. A new one must be added in claimfile.Lock, which lists the files of the
// state directory.
const (
	// Place: the table may be used at a place other than the recorded one.
	Place Kind = "place"
	// MissingOwners: claims that are held because their owners vanished unseen may be
	// released by the state of their owners.
	MissingOwners Kind = "missing-owners"
)

// Approval is one decision.
type Approval struct {
	// At is when the operator decided. It covers nothing that happened later.
	At time.Time `json:"at"`
	// Recorded and Present are the places shown to the operator, for the kind Place: the
	// one in the table, and the one where the daemon runs. The approval is valid for that
	// pair only.
	Recorded claims.Place `json:"recorded,omitzero"`
	Present  claims.Place `json:"present,omitzero"`
}

// Path is the path of a kind's file, beside the table at statePath.
func Path(statePath string, kind Kind) string {
	return statePath + claimfile.ApprovalFileSuffix + string(kind)
}

// Write writes an approval for the daemon, replacing an earlier one of its kind.
func Write(fsys claimfile.FS, statePath string, kind Kind, a Approval) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode the approval: %w", err)
	}
	if err := claimfile.ReplaceFile(fsys, Path(statePath, kind), data); err != nil {
		return fmt.Errorf("write the approval; run this as the user of the daemon, who owns the state directory: %w", err)
	}
	return nil
}

// Read returns the approval of a kind, and whether there is one. It does not remove the
// file, so that a caller can make its action durable before it calls [Remove]. An
// approval that cannot be read, or has no time, is an error and approves nothing.
func Read(fsys claimfile.FS, statePath string, kind Kind) (Approval, bool, error) {
	path := Path(statePath, kind)
	data, err := fsys.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Approval{}, false, nil
	case errors.Is(err, fs.ErrPermission):
		return Approval{}, false, fmt.Errorf("read the approval; give it again as the user of the daemon: %w", err)
	case err != nil:
		return Approval{}, false, fmt.Errorf("read the approval: %w", err)
	}
	var a Approval
	if err := json.Unmarshal(data, &a); err != nil || a.At.IsZero() {
		return Approval{}, false, fmt.Errorf("the approval in %s is damaged; give it again with vk-sandbox approve %s", path, kind)
	}
	return a, true, nil
}

// Remove removes the approval of a kind, if there is one.
func Remove(fsys claimfile.FS, statePath string, kind Kind) error {
	if err := fsys.Remove(Path(statePath, kind)); err != nil {
		return fmt.Errorf("remove the approval: %w", err)
	}
	return nil
}

// Take reads and removes an approval. If its file cannot be removed, Take returns an
// error and no approval, because it would be returned again and again.
func Take(fsys claimfile.FS, statePath string, kind Kind) (Approval, bool, error) {
	a, found, err := Read(fsys, statePath, kind)
	if err != nil || !found {
		return Approval{}, false, err
	}
	if err := Remove(fsys, statePath, kind); err != nil {
		return Approval{}, false, err
	}
	return a, true, nil
}
