// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Command models-schema writes the generated OpenAPI definitions to standard
// output as one OpenAPI v2 document. applyconfiguration-gen embeds it, which is
// what lets the fake clientset merge a server-side apply as an API server does.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/openapi"
)

func main() {
	if err := json.NewEncoder(os.Stdout).Encode(document()); err != nil {
		fmt.Fprintf(os.Stderr, "write the OpenAPI document: %v\n", err)
		os.Exit(1)
	}
}

func document() *spec.Swagger {
	generated := openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/definitions/" + name)
	})
	definitions := make(spec.Definitions, len(generated))
	for name, definition := range generated {
		definitions[name] = definition.Schema
		// Types such as Quantity carry their v2 form beside a v3 one.
		if v2, ok := definition.Schema.Extensions[common.ExtensionV2Schema].(spec.Schema); ok {
			definitions[name] = v2
		}
	}
	return &spec.Swagger{SwaggerProps: spec.SwaggerProps{
		Swagger:     "2.0",
		Info:        &spec.Info{InfoProps: spec.InfoProps{Title: "vk-sandbox", Version: "unversioned"}},
		Definitions: definitions,
	}}
}
