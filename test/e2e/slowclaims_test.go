// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// TestReleaseBehindSlowClaims slows down every claim of a host and creates more Pods than
// virtual-kubelet has workers. The VM of a Sandbox that is deleted meanwhile must be
// released before any of the claims finishes. It runs alone.
func TestReleaseBehindSlowClaims(t *testing.T) {
	f := newFixture(t)
	host := f.info.Hosts[0]
	id := f.runSandbox(newPod("box"))
	// Shorter than the daemon's time limit for a claim.
	slow := fault.Fault{Endpoint: "claim", Action: fault.ActionDelay, Delay: metav1.Duration{Duration: 40 * time.Second}}
	if _, err := simulator(host).AddFault(t.Context(), slow); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := simulator(host).ClearFaults(context.Background()); err != nil {
			t.Error(err)
		}
	})
	const pods = 40
	for i := range pods {
		f.createPod(newPod(fmt.Sprintf("slow-%d", i)))
	}
	eventually(t, "creates in work", func(context.Context) error {
		const queue = `vk_sandbox_queue_depth{queue="pod_sync"}`
		if depth := value(t, f.get(host, "/metrics"), queue); depth < pods { //nolint:contextcheck // onHost ends with the test
			return fmt.Errorf("%v Pods are in the queue", depth)
		}
		return nil
	})

	f.deleteSandbox("box")
	f.waitReleased("box", id)
	all, err := f.simHistory(t.Context(), host)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all.Events {
		switch {
		case e.Type == history.EventReleased && e.Sandbox == id:
			return
		case e.Type == history.EventClaimed && strings.HasPrefix(e.ClaimRef, f.namespace+"/slow-"):
			t.Fatalf("%s was claimed before VM %s was released", e.ClaimRef, id)
		}
	}
}
