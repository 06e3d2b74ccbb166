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

	"github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
)

// TestB17OlderCRD: the daemon names the field that an older CRD lacks, once, and
// publishes again when the CRD is that of the release. It runs alone.
func TestB17OlderCRD(t *testing.T) {
	const (
		crd   = "nodeclaimstatuses.sandbox.cocoonstack.io"
		field = "truncatedCount"
		path  = "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/" + field
	)
	f := newFixture(t)
	daemon, err := f.daemonOn(f.info.Hosts[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	patch := func(operation string) error {
		_, err := f.kubectl(context.Background(), "patch", "crd", crd, "--type=json", "--patch=["+operation+"]")
		return err
	}
	restore := func() error {
		return patch(`{"op":"add","path":"` + path + `","value":{"type":"integer","format":"int64","minimum":0}}`)
	}
	if err := patch(`{"op":"remove","path":"` + path + `"}`); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := restore(); err != nil {
			t.Error(err)
		}
	})

	f.run(newPod("bare"))
	named := func(ctx context.Context) (int, error) {
		logs, err := f.kubectl(ctx, "--namespace="+release, "logs", daemon)
		return strings.Count(logs, "."+field+": field not declared in schema"), err
	}
	eventually(t, "the field's name in the log", func(ctx context.Context) error {
		n, err := named(ctx)
		if err == nil && n == 0 {
			err = errors.New("it is not named")
		}
		return err
	})
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	f.waitClaim("bare", v1alpha1.ClaimBound)
	if n, err := named(t.Context()); n != 1 || err != nil {
		t.Errorf("the field was named %d times (%v), want once", n, err)
	}
}

// daemonOn is the name of the daemon's Pod on a host.
func (s *suite) daemonOn(host string) (string, error) {
	daemons, err := s.daemons(context.Background())
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
