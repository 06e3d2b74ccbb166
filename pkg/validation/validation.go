// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package validation has the checks that the configurations of several packages share. A
// configuration is validated by the package that it belongs to, which reports everything
// that is wrong with it at once. It names fields, never command line flags.
package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Missing returns an error for each name that is missing, ordered by name.
func Missing(missing map[string]bool) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		if missing[name] {
			errs = append(errs, fmt.Errorf("no %s given", name))
		}
	}
	return errs
}

// NodeName returns an error unless the name can be that of a Node.
func NodeName(name string) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return fmt.Errorf("node name %q cannot name an object: %s", name, strings.Join(problems, ", "))
	}
	return nil
}
