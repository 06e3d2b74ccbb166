// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crdschema

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// CheckAccepted checks that an API server accepts the CRD, that its only version is
// the one given, and that its objects have no namespace: they belong to a node, which
// has none.
func (c *CRD) CheckAccepted(t *testing.T, version string) {
	t.Helper()
	c.Status.StoredVersions = []string{version} // the API server's own strategy sets it
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), c.CustomResourceDefinition); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	if c.Spec.Scope != apiextensions.ClusterScoped {
		t.Errorf("scope is %s: the object belongs to a node, which has no namespace", c.Spec.Scope)
	}
	if len(c.Spec.Versions) != 1 || c.Version != version {
		t.Errorf("versions are %v, want %s alone", c.Spec.Versions, version)
	}
}

// CheckColumns checks what kubectl shows, each as its name and path.
func (c *CRD) CheckColumns(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, c.Columns(t)); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
}

// CheckKeeps checks that the schema accepts the object and prunes no field of it.
func (c *CRD) CheckKeeps(t *testing.T, object map[string]any) {
	t.Helper()
	if pruned := c.Prune(object); len(pruned) > 0 {
		t.Errorf("an API server would drop %v", pruned)
	}
	if errs := c.Validate(t, object); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

// CheckTypes checks that a T has every field of an object in a JSON file.
func CheckTypes[T any](t *testing.T, path string) {
	t.Helper()
	if diff := cmp.Diff(Sample(t, path), Recoded[T](t, path)); diff != "" {
		t.Errorf("decoded and encoded again (-sample +got):\n%s", diff)
	}
}

// CheckRefuses checks that the schema refuses a valid object after the change, with
// an error at a path that begins with the one given.
func (c *CRD) CheckRefuses(t *testing.T, object map[string]any, change func(object map[string]any), path string) {
	t.Helper()
	change(object)
	errs := c.Validate(t, object)
	if !slices.ContainsFunc(errs, func(e *field.Error) bool { return strings.HasPrefix(e.Field, path) }) {
		t.Errorf("errors are %v, want one at %s", errs, path)
	}
}
