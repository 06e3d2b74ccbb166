// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// TestManyMissingOwnersAreHeld deletes several Pods with their owners while no daemon
// runs, as a restore of the API server does. Their claims are held and published, and
// released after an operator approves. It runs alone.
func TestManyMissingOwnersAreHeld(t *testing.T) {
	f := newFixture(t)
	host := f.info.Hosts[0]
	// The smallest number that is held.
	claims := map[string]string{"one": "", "two": "", "three": ""}
	for name := range claims {
		claims[name] = f.runSandbox(newPod(name))
	}
	stopDaemons(t, f.suite)
	t.Cleanup(func() { resetRelease(t, f.suite) })
	for name := range claims {
		f.deleteSandbox(name)
		f.deletePod(name, forced)
		f.waitGone(name)
	}
	if err := f.upgrade(t.Context(), "claims.missingOwnersHold=1h"); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	f.waitHeld(float64(len(claims)))
	for name, id := range claims {
		f.assertOneAlive(name, id)
		if row := f.waitHeldRow(name); row.ID != id {
			t.Errorf("claim %s is shown as %+v", id, row)
		}
	}

	daemon, err := f.daemonOn(t.Context(), host.Name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.kubectl(t.Context(), "--namespace="+release, "exec", daemon, "--", "/vk-sandbox", "approve", "missing-owners")
	if err != nil || !strings.Contains(out, "Approved") {
		t.Fatalf("vk-sandbox approve missing-owners: %v:\n%s", err, out)
	}
	for name, id := range claims {
		f.waitReleased(name, id)
	}
	f.waitHeld(0)
}

// waitHeld waits until the first host's daemon holds this number of claims.
func (f *fixture) waitHeld(want float64) {
	f.t.Helper()
	host := f.info.Hosts[0]
	eventually(f.t, "held claims", func(context.Context) error {
		if held := value(f.t, f.get(host, "/metrics"), "vk_sandbox_claims_held"); held != want { //nolint:contextcheck // onHost ends with the test
			return fmt.Errorf("%v are held, want %v", held, want)
		}
		return nil
	})
}

// waitHeldRow waits until the Pod's claim is published as waiting for an operator.
func (f *fixture) waitHeldRow(name string) (row v1alpha1.NodeClaim) {
	f.t.Helper()
	eventually(f.t, "claim of "+name, func(ctx context.Context) (err error) {
		row, _, err = f.claimStatus(ctx, name)
		if err == nil && !strings.Contains(row.WaitingFor, "an operator, or ") {
			err = fmt.Errorf("it waits for %q", row.WaitingFor)
		}
		return err
	})
	return row
}
