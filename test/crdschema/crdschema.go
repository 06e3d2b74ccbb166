// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package crdschema treats objects as an API server does that has one of the
// chart's CRDs: with its own validation and pruning, and no server.
package crdschema

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// CRD is a CRD with one version.
type CRD struct {
	*apiextensions.CustomResourceDefinition
	// Version is the name of its version.
	Version    string
	properties *apiextensions.JSONSchemaProps
	structural *schema.Structural
}

// Read reads the CRD file at path.
func Read(t testing.TB, path string) *CRD {
	t.Helper()
	crd, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	return crd
}

func read(path string) (*CRD, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(raw, &external); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, internal, nil); err != nil {
		return nil, err
	}
	if n := len(internal.Spec.Versions); n != 1 {
		return nil, fmt.Errorf("%s has %d versions, want one", path, n)
	}
	version := internal.Spec.Versions[0].Name
	// The conversion lifts the schema of a single version to the top.
	v, err := apiextensions.GetSchemaForVersion(internal, version)
	if err != nil || v == nil {
		return nil, fmt.Errorf("no schema for %s: %w", version, err)
	}
	structural, err := schema.NewStructural(v.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	return &CRD{internal, version, v.OpenAPIV3Schema, structural}, nil
}

// Columns are what kubectl shows, each as its name and path.
func (c *CRD) Columns(t testing.TB) []string {
	t.Helper()
	all, err := apiextensions.GetColumnsForVersion(c.CustomResourceDefinition, c.Version)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, column := range all {
		out = append(out, column.Name+" "+column.JSONPath)
	}
	return out
}

// Validate returns what is wrong with the object.
func (c *CRD) Validate(t testing.TB, object map[string]any) field.ErrorList {
	t.Helper()
	validator, _, err := validation.NewSchemaValidator(c.properties)
	if err != nil {
		t.Fatal(err)
	}
	errs := validation.ValidateCustomResource(nil, object, validator)
	return append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, object)...)
}

// Prune drops the fields that the schema does not have, and returns their paths.
func (c *CRD) Prune(object map[string]any) []string {
	return pruning.PruneWithOptions(object, c.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}

// Sample reads an object from a JSON file.
func Sample(t testing.TB, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var sample map[string]any
	if err := json.Unmarshal(raw, &sample); err != nil {
		t.Fatal(err)
	}
	return sample
}

// Recoded decodes an object from a JSON file strictly as a T, and returns what the T
// encodes to.
func Recoded[T any](t testing.TB, path string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var typed T
	if err := yaml.UnmarshalStrict(raw, &typed); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(typed)
	if err != nil {
		t.Fatal(err)
	}
	var again map[string]any
	if err := json.Unmarshal(encoded, &again); err != nil {
		t.Fatal(err)
	}
	return again
}
