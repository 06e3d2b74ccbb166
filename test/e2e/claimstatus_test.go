// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// claimStatus returns the row of a Pod of the test's namespace in the NodeClaimStatus of
// the first host.
func (f *fixture) claimStatus(ctx context.Context, name string) (row v1alpha1.NodeClaim, found bool, err error) {
	object, err := f.objects.SandboxV1alpha1().NodeClaimStatuses().Get(ctx, f.info.Hosts[0].VirtualNode(), metav1.GetOptions{})
	if err != nil {
		return row, false, err
	}
	for _, c := range object.Status.Claims {
		if c.Pod == f.namespace+"/"+name {
			return c, true, nil
		}
	}
	return row, false, nil
}

// waitClaim waits until the Pod's claim is published in the state.
func (f *fixture) waitClaim(name string, state v1alpha1.ClaimState) (row v1alpha1.NodeClaim) {
	f.t.Helper()
	eventually(f.t, "claim of "+name, func(ctx context.Context) error {
		var found bool
		var err error
		row, found, err = f.claimStatus(ctx, name)
		if err == nil && (!found || row.State != state) {
			err = fmt.Errorf("shown is %+v, want it %s", row, state)
		}
		return err
	})
	return row
}

// TestClaimStatus follows one claim in the NodeClaimStatus and in the table's file, from
// its Pod to the end of its owner.
func TestClaimStatus(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	host := f.info.Hosts[0]
	owner := f.createSandbox(newPod("box"))
	id := f.claimOf("box")

	bound := f.waitClaim("box", v1alpha1.ClaimBound)
	if bound.ID != id || bound.Address != host.SandboxdAddr || bound.Owner == nil || bound.Owner.UID != owner.GetUID() ||
		bound.PodUID == "" || bound.ClaimedAt.IsZero() || bound.Deadline.IsZero() || bound.WaitingFor != "" {
		t.Errorf("the claim is shown as %+v, want claim %s at %s of owner %s", bound, id, host.SandboxdAddr, owner.GetUID())
	}
	for args, want := range map[string]string{
		"wait --for=condition=Ready nodeclaimstatus/" + host.VirtualNode() + " --timeout=60s": "condition met",
		"get nodeclaimstatus " + host.VirtualNode():                                           "True",
		"get ncs":        "READY",
		"get vk-sandbox": host.VirtualNode(),
		"get ncs " + host.VirtualNode() + " --output=jsonpath={.status.claims[*].id}": id,
	} {
		out, err := f.kubectl(t.Context(), strings.Fields(args)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("kubectl %s: %v, want %q in:\n%s", args, err, want, out)
		}
	}
	f.hostShows(host, "box", id, v1alpha1.ClaimBound)

	f.suspend("box")
	preserved := f.waitClaim("box", v1alpha1.ClaimPreserved)
	if preserved.ID != id || !strings.Contains(preserved.WaitingFor, "the end of its owner") {
		t.Errorf("the claim is shown as %+v", preserved)
	}
	f.hostShows(host, "box", id, v1alpha1.ClaimPreserved)

	f.deleteSandbox("box")
	f.waitReleased("box", id)
	eventually(t, "end of the row", func(ctx context.Context) error {
		row, found, err := f.claimStatus(ctx, "box")
		if err == nil && found {
			err = fmt.Errorf("shown is %+v", row)
		}
		return err
	})
}

// hostShows checks the output of the claims command on the host.
func (f *fixture) hostShows(h clusterinfo.Host, name, id string, state v1alpha1.ClaimState) {
	f.t.Helper()
	tokens := f.tokens(name)
	table, object := f.claimsOnHost(h), f.claimsOnHost(h, "--output=json")
	f.assertAbsent(tokens, "vk-sandbox claims", table+object)
	row := func(line string) bool {
		return strings.Contains(line, f.namespace+"/"+name) && strings.Contains(line, id) && strings.Contains(line, string(state))
	}
	if !slices.ContainsFunc(strings.Split(table, "\n"), row) {
		f.t.Errorf("vk-sandbox claims on %s does not show claim %s of %s as %s:\n%s", h.Name, id, name, state, table)
	}
	var status v1alpha1.NodeClaimStatusStatus
	if err := json.Unmarshal([]byte(object), &status); err != nil {
		f.t.Fatalf("vk-sandbox claims --output=json: %v:\n%s", err, object)
	}
	if !slices.ContainsFunc(status.Claims, func(c v1alpha1.NodeClaim) bool { return c.ID == id && c.State == state }) {
		f.t.Errorf("vk-sandbox claims --output=json does not have claim %s as %s:\n%s", id, state, object)
	}
}

// claimsOnHost runs the claims command on a host: the local build if the host shares this
// machine's files, otherwise the binary in the daemon's container.
func (f *fixture) claimsOnHost(h clusterinfo.Host, args ...string) string {
	f.t.Helper()
	if f.info.Driver != "local" {
		daemon, err := f.daemonOn(f.t.Context(), h.Name)
		if err != nil {
			f.t.Fatal(err)
		}
		out, err := f.kubectl(f.t.Context(), append([]string{"--namespace=" + release, "exec", daemon, "--", "/vk-sandbox", "claims"}, args...)...)
		if err != nil {
			f.t.Fatal(err)
		}
		return out
	}
	program, err := filepath.Abs(root + "/bin/vk-sandbox")
	if err != nil {
		f.t.Fatal(err)
	}
	return f.onHost(h, append([]string{program, "claims"}, args...)...)
}
