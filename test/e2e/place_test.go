// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

// acceptance is the table's acceptance in the output of the claims command.
type acceptance struct {
	Place       claims.Place `json:"place"`
	NotAccepted *struct {
		Reason  string       `json:"reason"`
		Message string       `json:"message"`
		Present claims.Place `json:"present"`
		Accept  string       `json:"accept"`
	} `json:"notAccepted"`
}

func (f *fixture) acceptance(h clusterinfo.Host) (a acceptance) {
	f.t.Helper()
	text := f.claimsOnHost(h, "--output=json")
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		f.t.Fatalf("vk-sandbox claims --output=json: %v:\n%s", err, text)
	}
	return a
}

// waitAccepted waits until the Node's condition about the claims table has the status.
func (f *fixture) waitAccepted(h clusterinfo.Host, status corev1.ConditionStatus) (condition corev1.NodeCondition) {
	f.t.Helper()
	eventually(f.t, "acceptance of the claims table of "+h.VirtualNode(), func(ctx context.Context) error {
		node, err := f.client.CoreV1().Nodes().Get(ctx, h.VirtualNode(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition = range node.Status.Conditions {
			if condition.Type == "ClaimsTableAccepted" && condition.Status == status {
				return nil
			}
		}
		return fmt.Errorf("conditions are %v", node.Status.Conditions)
	})
	return condition
}

// TestTableOfAnotherCluster checks that a daemon with a claims table of another cluster
// serves, claims and releases nothing and reports that to the operator. After the
// operator's approval it serves all claims. It runs alone.
func TestTableOfAnotherCluster(t *testing.T) {
	f := newFixture(t)
	host := f.info.Hosts[0]
	const other = "11111111-2222-4333-8444-555555555555"
	system, err := f.client.CoreV1().Namespaces().Get(t.Context(), metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	kept := f.runSandbox(newPod("kept"))
	gone := f.runSandbox(newPod("gone"))
	if a := f.acceptance(host); a.Place.Cluster != system.UID || a.Place.Host == "" || a.NotAccepted != nil {
		t.Errorf("the table's place is %+v, want cluster %s and a host, accepted", a, system.UID)
	}

	stopDaemons(t, f.suite)
	t.Cleanup(func() {
		if t.Failed() {
			_, err := run(context.WithoutCancel(t.Context()), root+"/bin/cluster", "exec", "--host="+host.Name, "--", "sed", "-i", "s/"+other+"/"+string(system.UID)+"/", stateFile)
			if err != nil {
				t.Error(err)
			}
			resetRelease(t, f.suite)
		}
	})
	f.onHost(host, "sed", "-i", "s/"+string(system.UID)+"/"+other+"/", stateFile)
	if a := f.acceptance(host); a.Place.Cluster != other {
		t.Fatalf("the table's place is %+v, want it moved to cluster %s", a.Place, other)
	}
	// A daemon that accepted the table would act at once.
	f.deleteSandbox("gone")
	f.deletePod("gone", forced)
	f.waitGone("gone")
	f.createPod(newPod("fresh"))
	f.waitPod("fresh", "bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName == host.VirtualNode() })
	before := f.requests(host, 0)

	if err := f.upgradeTo(t.Context(), chartDir); err != nil {
		t.Fatal(err)
	}
	condition := f.waitAccepted(host, corev1.ConditionFalse)
	if condition.Reason != "OtherCluster" || !containsAll(condition.Message, []string{other, string(system.UID)}) {
		t.Errorf("the Node's condition is %+v", condition)
	}
	daemon, err := f.daemonOn(t.Context(), host.Name)
	if err != nil {
		t.Fatal(err)
	}
	log, err := f.kubectl(t.Context(), "--namespace="+release, "logs", daemon)
	if err != nil || strings.Count(log, "The claims table belongs elsewhere") != 1 {
		t.Errorf("the daemon's log, %v, does not say once that its table belongs elsewhere:\n%s", err, log)
	}
	if accepted := value(t, f.get(host, "/metrics"), "vk_sandbox_claims_table_accepted"); accepted != 0 {
		t.Errorf("vk_sandbox_claims_table_accepted is %v", accepted)
	}
	a := f.acceptance(host)
	if a.Place.Cluster != other || a.NotAccepted == nil || a.NotAccepted.Reason != "OtherCluster" || a.NotAccepted.Present.Cluster != system.UID {
		t.Fatalf("vk-sandbox claims shows %+v", a)
	}
	if table := f.claimsOnHost(host); !containsAll(table, []string{other, string(system.UID), a.NotAccepted.Accept}) {
		t.Errorf("vk-sandbox claims does not say what is wrong and how to accept it:\n%s", table)
	}
	f.waitAccepted(f.info.Hosts[len(f.info.Hosts)-1], corev1.ConditionTrue)
	f.assertOneAlive("kept", kept)
	f.assertOneAlive("gone", gone)
	for _, r := range f.requests(host, before[len(before)-1].Seq) {
		if r.Method != http.MethodGet {
			t.Errorf("sandboxd was asked to %s %s", r.Method, r.Path)
		}
	}

	out, err := f.kubectl(t.Context(), "--namespace="+release, "exec", daemon, "--", "/vk-sandbox", "approve", "place")
	if err != nil || !containsAll(out, []string{"Approved", other, string(system.UID)}) {
		t.Fatalf("vk-sandbox approve place: %v:\n%s", err, out)
	}
	f.waitRunning("fresh")
	f.waitReleased("gone", gone)
	f.waitAccepted(host, corev1.ConditionTrue)
	f.assertOneAlive("kept", kept)
	if a := f.acceptance(host); a.Place.Cluster != system.UID || a.NotAccepted != nil {
		t.Errorf("after the approval the table's place is %+v", a)
	}
	if accepted := value(t, f.get(host, "/metrics"), "vk_sandbox_claims_table_accepted"); accepted != 1 {
		t.Errorf("after the approval vk_sandbox_claims_table_accepted is %v", accepted)
	}
	if err := f.rolledOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
}

// requests returns the requests to the host's sandboxd after that number.
func (f *fixture) requests(h clusterinfo.Host, after int64) []history.Request {
	f.t.Helper()
	log, err := simulator(h).Requests(f.t.Context(), history.RequestFilter{After: after})
	if err != nil {
		f.t.Fatal(err)
	}
	return log.Requests
}
