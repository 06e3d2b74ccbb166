// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The tests in this file replace or remove the release, so they run alone.

// TestUpgradeAndRollback checks that an upgrade to another chart version with other values,
// and the rollback, replace every daemon and no VM.
func TestUpgradeAndRollback(t *testing.T) {
	f := newFixture(t)
	all := newFleet(f)
	revision := f.revision()
	before, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			resetRelease(t, f.suite)
		}
	})
	host, port := f.apiServer()
	err = f.upgradeTo(t.Context(), chartOfVersion(t, "9.9.9-next.1"), "--wait",
		"--set=apiServer.host="+host, "--set=apiServer.port="+port,
		"--set=log.format=json", "--set=node.labels.next=yes", "--set=claimStatus.interval=5s", "--set=terminationGracePeriodSeconds=60")
	if err == nil {
		err = f.rolledOut(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	waitReplaced(t, f.suite, before)
	waitDaemons(t, f.suite)
	upgraded, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := upgraded[0].Labels["helm.sh/chart"]; got != "vk-sandbox-9.9.9-next.1" {
		t.Errorf("the daemon is of chart %q", got)
	}
	if env := upgraded[0].Spec.Containers[0].Env; !slices.Contains(env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: host}) {
		t.Errorf("the daemon's environment is %v: it does not have the API server's address %s", env, host)
	}
	f.waitNodeLabel("next", "yes")
	all.assertUntouched("an upgrade")
	all.assertInTables("an upgrade")

	if _, err := f.helm(t.Context(), "rollback", release, revision, "--namespace="+release, "--wait", "--timeout=2m"); err != nil {
		t.Fatal(err)
	}
	if err := f.rolledOut(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitReplaced(t, f.suite, upgraded)
	waitDaemons(t, f.suite)
	all.assertUntouched("a rollback")
	all.assertInTables("a rollback")
	all.assertServed("a rollback")
}

// apiServer returns the API server's own address, not the Service's.
func (f *fixture) apiServer() (host, port string) {
	f.t.Helper()
	found, err := f.client.DiscoveryV1().EndpointSlices(metav1.NamespaceDefault).Get(f.t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return found.Endpoints[0].Addresses[0], strconv.Itoa(int(*found.Ports[0].Port))
}

// revision returns the release's current revision.
func (s *suite) revision() string {
	out, err := s.helm(context.Background(), "list", "--namespace="+release, "--filter=^"+release+"$", "--no-headers")
	if fields := strings.Fields(out); err == nil && len(fields) > 2 {
		return fields[2]
	}
	return "0" // the one before
}

// chartOfVersion copies the chart with another version.
func chartOfVersion(t *testing.T, version string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(chartDir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "Chart.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "version: ") })
	lines[i] = "version: " + version
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (f *fixture) waitNodeLabel(key, value string) {
	f.t.Helper()
	for _, h := range f.info.Hosts {
		eventually(f.t, "label of "+h.VirtualNode(), func(ctx context.Context) error {
			node, err := f.readyNode(ctx, h.VirtualNode())
			if err == nil && node.Labels[key] != value {
				err = fmt.Errorf("labels are %v", node.Labels)
			}
			return err
		})
	}
}

// TestUninstall checks that an uninstall keeps VMs, tables, CRDs, their objects and the
// Nodes, which turn NotReady. A new installation continues with all of them.
func TestUninstall(t *testing.T) {
	f := newFixture(t)
	all := newFleet(f)
	all.waitAllShown()
	f.createInventory("elsewhere")
	before := f.remains()
	daemons, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.uninstall.from = time.Now()
	if _, err := f.helm(t.Context(), "uninstall", release, "--namespace="+release, "--wait", "--timeout=2m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			resetRelease(t, f.suite)
		}
	})
	waitReplaced(t, f.suite, daemons)
	f.uninstall.to = time.Now()
	for _, h := range f.info.Hosts {
		eventually(t, "end of the readiness of "+h.VirtualNode(), func(ctx context.Context) error {
			if _, err := f.readyNode(ctx, h.VirtualNode()); err == nil {
				return errors.New("it is Ready")
			}
			return nil
		})
	}
	f.assertRemains("an uninstall", before)
	all.assertUntouched("an uninstall")
	all.assertInTables("an uninstall")

	if err := f.upgrade(t.Context()); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	if err := f.nodesReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.assertRemains("a new installation", before)
	all.assertUntouched("a new installation")
	all.waitAllShown()
	all.assertServed("a new installation")
}

// remains returns the UIDs of the objects that an uninstall keeps, by description.
func (f *fixture) remains() map[string]types.UID {
	f.t.Helper()
	uids := map[string]types.UID{}
	note := func(resource, name string) {
		uid, err := f.jsonpath(f.t.Context(), resource, name, "{.metadata.uid}{.metadata.deletionTimestamp}")
		if err != nil {
			f.t.Fatal(err)
		}
		uids[resource+" "+name] = types.UID(uid)
	}
	for _, o := range publishedObjects {
		note("crd", o.resource+".sandbox.cocoonstack.io")
	}
	note("nodeinventories", "elsewhere")
	for _, h := range f.info.Hosts {
		note("nodes", h.VirtualNode())
		for _, o := range publishedObjects {
			note(o.resource, h.VirtualNode())
		}
	}
	return uids
}

func (f *fixture) assertRemains(after string, before map[string]types.UID) {
	f.t.Helper()
	now := f.remains()
	for what, uid := range before {
		if now[what] != uid {
			f.t.Errorf("after %s: %s was %s and is %s", after, what, uid, now[what])
		}
	}
}

// createInventory creates the NodeInventory of a node without a daemon.
func (f *fixture) createInventory(name string) {
	f.t.Helper()
	file := filepath.Join(f.t.TempDir(), "inventory.yaml")
	text := "apiVersion: sandbox.cocoonstack.io/v1beta1\nkind: NodeInventory\nmetadata: {name: " + name + "}\naddress: 192.0.2.1:7777\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.kubectl(f.t.Context(), "create", "--filename="+file); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if _, err := f.kubectl(context.Background(), "delete", "nodeinventory", name); err != nil {
			f.t.Error(err)
		}
	})
}

// TestDaemonSetIsRecreated deletes the DaemonSet without its Pods. The new DaemonSet must
// adopt the Pods and start no second daemon.
func TestDaemonSetIsRecreated(t *testing.T) {
	f := newFixture(t)
	first, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// A new DaemonSet adopts the Pods of any first template without a comparison. Only
	// the Pods of a later template show whether the templates are equal.
	const later = "podAnnotations.later=yes"
	t.Cleanup(func() { resetRelease(t, f.suite) })
	if err := f.upgrade(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	waitReplaced(t, f.suite, first)
	waitDaemons(t, f.suite)
	all := newFleet(f)
	before, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.kubectl(t.Context(), "--namespace="+release, "delete", "daemonset", release, "--cascade=orphan"); err != nil {
		t.Fatal(err)
	}
	if err := f.upgrade(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	waitDaemons(t, f.suite)
	after, err := f.daemons(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	uids := func(pods []corev1.Pod) (all []types.UID) {
		for _, p := range pods {
			all = append(all, p.UID)
		}
		slices.Sort(all)
		return all
	}
	if !slices.Equal(uids(before), uids(after)) {
		t.Errorf("the daemons were %v and are %v", uids(before), uids(after))
	}
	all.assertUntouched("a new DaemonSet")
	all.assertServed("a new DaemonSet")
}
