// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/secretscan"
)

const stateFile = "/var/lib/vk-sandbox/claims.json"

// TestTokensAreNotExposed searches everything that other users can read for the root token
// and the VMs' tokens. The daemon logs at debug level and has claimed, failed and
// released before the search.
func TestTokensAreNotExposed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.runSandbox(newPod("kept"))
	released := f.run(newPod("released"))
	invalid := newPod("invalid")
	invalid.Annotations[podcontract.AnnotationTemplate] = "no-such-template"
	f.createPod(invalid)
	f.warning("invalid", "request refused")

	tokens := f.tokens("kept", "released")
	f.deletePod("released", metav1.DeleteOptions{})
	f.waitReleased("released", released)
	f.suspend("kept")
	f.resume("kept")
	f.waitClaim("kept", v1alpha1.ClaimBound)

	f.searchFor(tokens, map[string][]string{
		"daemon logs": {"--namespace=" + release, "logs", "--selector=app.kubernetes.io/instance=" + release, "--tail=-1"},
		"events":      {"get", "events", "--all-namespaces", "--output=yaml", "--show-managed-fields"},
		"Pods":        {"get", "pods", "--all-namespaces", "--output=yaml", "--show-managed-fields"},
		"Nodes":       {"get", "nodes", "--output=yaml", "--show-managed-fields"},
		"inventories": {"get", "nodeinventories", "--output=yaml", "--show-managed-fields"},
		"claims":      {"get", "nodeclaimstatuses", "--output=yaml", "--show-managed-fields"},
		"leases":      {"get", "leases", "--all-namespaces", "--output=yaml", "--show-managed-fields"},
	})
	values, err := f.helm(t.Context(), "get", "all", release, "--namespace="+release)
	if err != nil {
		t.Fatal(err)
	}
	f.assertAbsent(tokens, "helm get all", values)
	for _, h := range f.info.Hosts {
		f.assertAbsent(tokens, "metrics", f.get(h, "/metrics"))
		f.assertAbsent(tokens, "readiness", f.get(h, "/readyz?verbose"))
	}
}

// tokens returns the secrets to search for, by description.
func (f *fixture) tokens(pods ...string) map[string]string {
	f.t.Helper()
	rootToken, err := f.rootToken()
	if err != nil {
		f.t.Fatal(err)
	}
	tokens := map[string]string{"sandboxd's root token": rootToken}
	for _, name := range pods {
		vm := f.history(name).live[0]
		for _, h := range f.info.Hosts {
			if token, err := simulator(h).Token(f.t.Context(), vm.ID); err == nil {
				tokens["the token of "+name] = token
			}
		}
	}
	if len(tokens) != len(pods)+1 {
		f.t.Fatalf("have %d tokens, want that of each VM and the root token", len(tokens))
	}
	return tokens
}

func (f *fixture) searchFor(tokens map[string]string, places map[string][]string) {
	f.t.Helper()
	for place, args := range places {
		text, err := f.kubectl(f.t.Context(), args...)
		if err != nil {
			f.t.Errorf("read %s: %v", place, err)
			continue
		}
		if !strings.Contains(text, f.namespace) && place != "Nodes" && place != "leases" {
			f.t.Errorf("%s do not mention the test's namespace: looked in the wrong place", place)
		}
		f.assertAbsent(tokens, place, text)
	}
}

func (f *fixture) assertAbsent(tokens map[string]string, place, text string) {
	f.t.Helper()
	for what, token := range tokens {
		if forms := secretscan.Find(text, token); forms != nil {
			f.t.Errorf("%s is in: %s, as %q", what, place, forms)
		}
	}
}

// TestStateFile checks that only root can read the file with the tokens. It also shows that
// the search above would find a token.
func TestStateFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.run(newPod("bare"))
	tokens := f.tokens("bare")
	held := false
	for _, h := range f.info.Hosts {
		for path, want := range map[string]string{stateFile: "600", filepath.Dir(stateFile): "700"} {
			if got := f.onHost(h, "stat", "--format=%a", path); strings.TrimSpace(got) != want {
				t.Errorf("%s has mode %s, want %s", path, got, want)
			}
		}
		content := f.onHost(h, "cat", stateFile)
		held = held || strings.Contains(content, tokens["the token of bare"])
		if strings.Contains(content, tokens["sandboxd's root token"]) {
			t.Error("the claims table has sandboxd's root token")
		}
	}
	if !held {
		t.Error("no claims table has the VM's token: it could never be released")
	}
}

// onHost runs a program on a host and returns its output.
func (f *fixture) onHost(h clusterinfo.Host, argv ...string) string {
	f.t.Helper()
	out, err := run(f.t.Context(), root+"/bin/cluster", append([]string{"exec", "--host=" + h.Name, "--"}, argv...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}
