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
)

// TestOlderCRD checks that the daemon reports a field that an older CRD lacks once, and
// publishes again with the release's CRD. It runs alone.
func TestOlderCRD(t *testing.T) {
	for _, test := range []struct{ resource, field, parent, published string }{
		{"nodeclaimstatuses", "truncatedCount", "/properties/status", "{.status.lastPublishedTime}"},
		{"nodeinventories", "totalWarm", "", "{.publishedAt}"},
	} {
		t.Run(test.resource, func(t *testing.T) {
			f := newFixture(t)
			daemon, err := f.daemonOn(t.Context(), f.info.Hosts[0].Name)
			if err != nil {
				t.Fatal(err)
			}
			restore := f.removeField(test.resource+".sandbox.cocoonstack.io", test.parent+"/properties/"+test.field)

			f.run(newPod("bare"))
			named := func(ctx context.Context) (int, error) {
				logs, err := f.kubectl(ctx, "--namespace="+release, "logs", daemon)
				return strings.Count(logs, "."+test.field+": field not declared in schema"), err
			}
			eventually(t, "the field's name in the log", func(ctx context.Context) error {
				n, err := named(ctx)
				if err == nil && n == 0 {
					err = errors.New("it is not named")
				}
				return err
			})
			restore()
			restored := time.Now()
			eventually(t, "publication under the CRD of the release", func(ctx context.Context) error {
				at, err := f.jsonpath(ctx, test.resource, f.info.Hosts[0].VirtualNode(), test.published)
				if err != nil {
					return err
				}
				published, err := time.Parse(time.RFC3339, at)
				if err == nil && !published.After(restored) {
					err = fmt.Errorf("last published at %s", at)
				}
				return err
			})
			if n, err := named(t.Context()); n != 1 || err != nil {
				t.Errorf("the field was named %d times (%v), want once", n, err)
			}
		})
	}
}

// removeField removes a field from the CRD's schema. The returned function, or the end of
// the test, restores it.
func (f *fixture) removeField(crd, field string) (restore func()) {
	f.t.Helper()
	path := "/spec/versions/0/schema/openAPIV3Schema" + field
	before, err := f.jsonpath(f.t.Context(), "crd", crd, "{"+strings.ReplaceAll(strings.Replace(path, "/versions/0", ".versions[0]", 1), "/", ".")+"}")
	if err != nil || before == "" {
		f.t.Fatalf("%s has no field at %s: %v", crd, path, err)
	}
	patch := func(operation string) {
		f.t.Helper()
		if _, err := f.kubectl(context.Background(), "patch", "crd", crd, "--type=json", "--patch=["+operation+"]"); err != nil {
			f.t.Fatal(err)
		}
	}
	patch(`{"op":"remove","path":"` + path + `"}`)
	restore = func() { patch(`{"op":"add","path":"` + path + `","value":` + before + `}`) }
	f.t.Cleanup(restore)
	return restore
}

// daemonOn returns the name of the daemon's Pod on a host.
func (s *suite) daemonOn(ctx context.Context, host string) (string, error) {
	daemons, err := s.daemons(ctx)
	if err != nil {
		return "", err
	}
	for _, p := range daemons {
		if p.Spec.NodeName == host && p.DeletionTimestamp == nil {
			return p.Name, nil
		}
	}
	return "", fmt.Errorf("no daemon runs on %s", host)
}
