// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// publishedObject describes one of the two objects that a node publishes.
type publishedObject struct {
	resource string
	// edit is another client's patch of a field that the node owns.
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

// TestEditsByOthersAreUndone checks that the node restores its fields within an interval
// after another client edits them, keeps that client's own fields, and then stops
// writing. It runs alone.
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
	assertNotRewritten(t, name)
}

// assertNotRewritten checks that an unchanged claim status is not written.
func assertNotRewritten(t *testing.T, name string) {
	t.Helper()
	statuses := shared.objects.SandboxV1alpha1().NodeClaimStatuses()
	var last *v1alpha1.NodeClaimStatus
	var since time.Time
	eventually(t, "an unwritten claim status", func(ctx context.Context) error {
		now, err := statuses.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if last == nil || last.ResourceVersion != now.ResourceVersion {
			last, since = now, time.Now()
		}
		if idle := time.Since(since); idle < 25*time.Second {
			return fmt.Errorf("it was last written %s ago", idle.Round(time.Second))
		}
		return nil
	})
}

// waitPublished waits until the node's object exists and the current Node owns it. It
// returns the object's UID.
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

// TestObjectsAreDeletedWithTheirNode checks that the objects outlive the daemon and end with
// their Node. It runs alone.
func TestObjectsAreDeletedWithTheirNode(t *testing.T) {
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
		eventually(t, "end of the "+o.resource+" of a Node that is not registered again", func(ctx context.Context) error {
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
