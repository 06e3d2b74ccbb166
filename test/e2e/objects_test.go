// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// claimStatus is the row of a Pod of the test's namespace in the object of the
// first host's node.
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

// waitClaim waits until the Pod's claim is shown in the state.
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

// TestClaimStatus follows one claim in the object, from its Pod to its owner's
// end, and on the host in the table's file.
func TestClaimStatus(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	host := f.info.Hosts[0]
	owner := f.createSandbox("box")
	id := f.run(newOwnedPod(owner))

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

	f.deletePod("box", metav1.DeleteOptions{})
	f.waitGone("box")
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

// hostShows runs the claims command on the host, where no API server is needed.
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

// claimsOnHost runs the program that was built here. A host that does not share
// this machine's files has it in the daemon's container only.
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

// publishedObject is one of the two objects that a node publishes.
type publishedObject struct {
	resource string
	// edit is somebody's patch of a field that is the node's.
	edit, subresource string
	// edited reads that field.
	edited string
}

var publishedObjects = []publishedObject{
	{
		resource: "nodeinventories", edit: `{"address":"192.0.2.1:1"}`, edited: "{.address}",
	},
	{
		resource: "nodeclaimstatuses", subresource: "status",
		edit: `{"status":{"counts":{"bound":4711}}}`, edited: "{.status.counts.bound}",
	},
}

func (s *suite) jsonpath(ctx context.Context, resource, name, path string) (string, error) {
	return s.kubectl(ctx, "get", resource, name, "--output=jsonpath="+path)
}

// TestEditsByOthersAreUndone: what someone else writes over the node's fields is back
// within an interval, what is theirs stays, and there it ends. It runs alone.
func TestEditsByOthersAreUndone(t *testing.T) {
	name := shared.info.Hosts[0].VirtualNode()
	for _, o := range publishedObjects {
		t.Run(o.resource, func(t *testing.T) {
			before := waitPublished(t, o.resource, name)
			good, err := shared.jsonpath(t.Context(), o.resource, name, o.edited)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := shared.kubectl(t.Context(), "label", "--overwrite", o.resource, name, "team=red"); err != nil {
				t.Fatal(err)
			}
			args := []string{"patch", o.resource, name, "--type=merge", "--patch=" + o.edit, "--field-manager=kubectl-edit"}
			if o.subresource != "" {
				args = append(args, "--subresource="+o.subresource)
			}
			if _, err := shared.kubectl(t.Context(), args...); err != nil {
				t.Fatal(err)
			}
			edited := time.Now()
			eventually(t, "repair of "+o.edited, func(ctx context.Context) error {
				got, err := shared.jsonpath(ctx, o.resource, name, o.edited)
				if err == nil && got != good {
					err = fmt.Errorf("it is %q, was %q", got, good)
				}
				return err
			})
			t.Logf("repaired after %s", time.Since(edited).Round(time.Second))
			label, err := shared.jsonpath(t.Context(), o.resource, name, "{.metadata.labels.team}")
			if err != nil || label != "red" {
				t.Errorf("the label of others is %q, %v", label, err)
			}
			uid, err := shared.jsonpath(t.Context(), o.resource, name, "{.metadata.uid}")
			if err != nil || types.UID(uid) != before {
				t.Errorf("the object's UID was %s and is %s, %v", before, uid, err)
			}
		})
	}
	assertCalm(t, name)
}

// assertCalm checks that nobody writes a claim status in which nothing changes.
func assertCalm(t *testing.T, name string) {
	t.Helper()
	statuses := shared.objects.SandboxV1alpha1().NodeClaimStatuses()
	var last *v1alpha1.NodeClaimStatus
	var since time.Time
	eventually(t, "calm", func(ctx context.Context) error {
		now, err := statuses.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last == nil || last.ResourceVersion != now.ResourceVersion {
			last, since = now, time.Now()
		}
		if calm := time.Since(since); calm < 25*time.Second {
			return fmt.Errorf("it was last written %s ago", calm.Round(time.Second))
		}
		return nil
	})
}

// waitPublished waits until the node's object is there and owned by the present
// Node, and returns its UID.
func waitPublished(t *testing.T, resource, name string) (uid types.UID) {
	t.Helper()
	eventually(t, resource+" of "+name, func(ctx context.Context) error {
		node, err := shared.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		out, err := shared.jsonpath(ctx, resource, name, "{.metadata.uid} {.metadata.ownerReferences[*].uid} {.metadata.deletionTimestamp}")
		if err != nil {
			return err
		}
		is := strings.Fields(out)
		if len(is) != 2 || is[1] != string(node.UID) {
			return fmt.Errorf("UID, owner and deletion are %q, the Node's UID is %s", out, node.UID)
		}
		uid = types.UID(is[0])
		return nil
	})
	return uid
}

// TestObjectsGoWithTheirNode follow their Node, and nothing else. It runs alone.
func TestObjectsGoWithTheirNode(t *testing.T) {
	name := shared.info.Hosts[0].VirtualNode()
	published := func() map[string]types.UID {
		uids := map[string]types.UID{}
		for _, o := range publishedObjects {
			uids[o.resource] = waitPublished(t, o.resource, name)
		}
		return uids
	}
	remain := func(what string, before map[string]types.UID) {
		t.Helper()
		for resource, uid := range before {
			if now, err := shared.jsonpath(t.Context(), resource, name, "{.metadata.uid}"); err != nil || types.UID(now) != uid {
				t.Errorf("%s: %s of %s was %s and is %s, %v", what, resource, name, uid, now, err)
			}
		}
	}
	before := published()
	killDaemons(t, shared)
	waitDaemons(t, shared)
	remain("the daemon was restarted", before)

	if err := shared.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "objects of the Node that is registered again", func(ctx context.Context) error {
		_, err := shared.readyNode(ctx, name)
		return err
	})
	again := published()

	stopDaemons(t, shared)
	remain("the daemon has left", again)
	if err := shared.client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, o := range publishedObjects {
		eventually(t, "end of the "+o.resource+" of a Node that is gone for good", func(ctx context.Context) error {
			out, err := shared.kubectl(ctx, "get", o.resource, name, "--ignore-not-found", "--output=name")
			if err == nil && out != "" {
				err = errors.New("it is still there")
			}
			return err
		})
	}

	if err := shared.upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, shared)
	published()
}
