// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// statusAdvice is the advice for a NodeClaimStatus that does not follow its node.
func (r *run) statusAdvice(node string) string {
	return fmt.Sprintf("kubectl describe nodeclaimstatus %[1]s and the log of the daemon behind node %[1]s say what is wrong; "+
		"check a node that publishes none without it%[2]s", node, hint(r.StatusHint))
}

// hint formats the caller's addition to an advice.
func hint(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// waitShown waits until the node's NodeClaimStatus has the claim; only then does a later
// absence prove its end. shown is false if the nodes publish none, or if the node has
// more claims than fit into the object.
func (r *run) waitShown(ctx context.Context, node, claim string) (shown bool, err error) {
	if r.Statuses == nil {
		return false, nil
	}
	s := step{node: node, wanted: "claim " + claim + " in the NodeClaimStatus", next: r.statusAdvice(node)}
	err = r.await(ctx, s, func(ctx context.Context) (observation, error) {
		status, err := r.Statuses.Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return observation{}, err
		}
		row, found := find(status, claim)
		shown = found && row.State == v1alpha1.ClaimBound
		switch {
		case shown:
			r.printf("%s: claim %s is shown %s", node, claim, row.State)
		case found:
			return observation{state: "it is " + string(row.State)}, nil
		case status.Status.TruncatedCount != nil && *status.Status.TruncatedCount > 0:
			r.printf("%s: the NodeClaimStatus leaves out %d claims; the end of the Pod has to stand for the end of its claim", node, *status.Status.TruncatedCount)
		default:
			return observation{state: "it is not there"}, nil
		}
		return observation{done: true}, nil
	})
	return shown, err
}

// waitReleased waits until the NodeClaimStatus no longer has the claim.
func (r *run) waitReleased(ctx context.Context, node, claim string) error {
	s := step{node: node, wanted: "release of claim " + claim, next: r.statusAdvice(node)}
	err := r.await(ctx, s, func(ctx context.Context) (observation, error) {
		status, err := r.Statuses.Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return observation{}, err
		}
		row, found := find(status, claim)
		return observation{done: !found, state: "it is still shown: " + string(row.State)}, nil
	})
	if err == nil {
		r.printf("%s: claim %s is released", node, claim)
	}
	return err
}

func find(status *v1alpha1.NodeClaimStatus, id string) (row v1alpha1.NodeClaim, found bool) {
	i := slices.IndexFunc(status.Status.Claims, func(c v1alpha1.NodeClaim) bool { return c.ID == id })
	if i < 0 {
		return row, false
	}
	return status.Status.Claims[i], true
}
