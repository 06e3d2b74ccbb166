// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

const (
	// MaxBytes is the size of the largest NodeClaimStatus this package applies, as
	// JSON. etcd takes 1.5 MiB by default; others may add 256 KiB of annotations,
	// and the record of field owners, which does not grow with the rows, comes on
	// top.
	MaxBytes = 1 << 20
	// maxRows is the schema's limit of rows.
	maxRows = 10000
)

// document is the applied status. Its list of claims is written even if it is empty: a
// list left out of an apply would stay as someone else wrote it.
type document struct {
	*v1alpha1.NodeClaimStatusApplyConfiguration
	Status statusDocument `json:"status"`
}

type statusDocument struct {
	api.NodeClaimStatusStatus
	Claims []api.NodeClaim `json:"claims"`
}

// digest identifies the content of a status, without the times that do not count as a
// change.
type digest [sha256.Size]byte

func (s statusDocument) digest() (digest, error) {
	s.LastPublishedTime, s.LastVerifiedTime = nil, nil
	content, err := json.Marshal(s)
	return sha256.Sum256(content), err
}

// newDocument returns the object with as many of the status's first claims as fit into
// limit bytes.
func newDocument(object *v1alpha1.NodeClaimStatusApplyConfiguration, status api.NodeClaimStatusStatus, limit int) (document, error) {
	rows, all := status.Claims, int64(len(status.Claims))
	status.Claims, status.TruncatedCount = nil, &all
	d := document{object, statusDocument{status, []api.NodeClaim{}}}
	n, err := publish.Fit(d, rows, limit)
	if err != nil {
		return document{}, fmt.Errorf("fit the claims: %w", err)
	}
	n = min(n, maxRows)
	truncated := all - int64(n)
	d.Status.TruncatedCount = &truncated
	if n > 0 {
		d.Status.Claims = rows[:n]
	}
	return d, nil
}
