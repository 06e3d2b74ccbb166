// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// maxRef is the length of the longest <namespace>/<name>: a label, a slash and
// a subdomain.
const maxRef = 63 + 1 + 253

func entries(rows []sandboxd.Sandbox, addresses map[string]string) []*v1beta1.NodeEntryApplyConfiguration {
	out := make([]*v1beta1.NodeEntryApplyConfiguration, 0, len(rows))
	for _, row := range rows {
		out = append(out, entry(row, addresses[row.ID]))
	}
	slices.SortFunc(out, func(a, b *v1beta1.NodeEntryApplyConfiguration) int {
		return cmp.Or(cmp.Compare(*a.Name, *b.Name), cmp.Compare(*a.ID, *b.ID))
	})
	return out
}

func entry(row sandboxd.Sandbox, addr string) *v1beta1.NodeEntryApplyConfiguration {
	e := v1beta1.NodeEntry().
		WithName(row.ID).
		WithID(row.ID).
		WithPhase(phase(row))
	if ref := claimRef(row); ref != "" {
		e.WithName(ref).WithClaimRef(ref)
	}
	if addr != "" {
		e.WithAddr(addr)
	}
	if row.Key.Template != "" {
		e.WithTemplate(row.Key.Template)
	}
	if !row.ClaimedAt.IsZero() {
		e.WithClaimedAt(metav1.NewTime(row.ClaimedAt))
	}
	if !row.Deadline.IsZero() {
		e.WithDeadline(metav1.NewTime(row.Deadline))
	}
	return e
}

// claimRef is the published claim_ref; empty for none. Any client may claim with any text
// as claim_ref; a text that no Kubernetes object can have is not published, because it
// would only displace other sandboxes.
func claimRef(row sandboxd.Sandbox) string {
	if len(row.ClaimRef) > maxRef {
		return ""
	}
	return row.ClaimRef
}

func phase(row sandboxd.Sandbox) api.SandboxPhase {
	if row.Hibernated || row.Archived {
		return api.SandboxHibernated
	}
	return api.SandboxRunning
}
