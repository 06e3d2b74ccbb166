// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package podcontract_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// constants are the keys, the reasons and the default that the contract has, by name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, file := range []string{"keys.go", "lease.go", "../podstatus/reasons.go"} {
		addConstants(t, file, found)
	}
	return found
}

func addConstants(t *testing.T, path string, found map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for i, name := range spec.Names {
			value, ok := spec.Values[i].(*ast.BasicLit)
			if !ok {
				t.Fatalf("%s is no plain value", name)
			}
			found[name.Name] = strings.Trim(value.Value, `"`)
		}
		return true
	})
}

// TestPage holds docs/pod-contract.md against the constants: whatever they name is
// there, and it names no key and no reason that they do not.
func TestPage(t *testing.T) {
	content, err := os.ReadFile("../../docs/pod-contract.md")
	if err != nil {
		t.Fatal(err)
	}
	known := constants(t)
	for name, value := range known {
		if !regexp.MustCompile("[ `]" + regexp.QuoteMeta(value) + "[`,]").Match(content) {
			t.Errorf("the page does not name %s, %q", name, value)
		}
	}
	for kind, pattern := range map[string]string{
		"Annotation": `sandbox\.cocoonstack\.io/[a-z-]+`,
		"Taint":      `virtual-kubelet\.io/[a-z-]+`,
		"Reason":     "(?m)^\\| `([A-Z][A-Za-z]+)` \\| (?:Pending|Failed)",
	} {
		var named, want []string
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
			named = append(named, match[len(match)-1])
		}
		for name, value := range known {
			if strings.HasPrefix(name, kind) && name != "TaintValue" {
				want = append(want, value)
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Compact(slices.Sorted(slices.Values(named)))); diff != "" {
			t.Errorf("names of kind %s in the page (-constants +page)\n%s", kind, diff)
		}
	}
	if known["AnnotationTemplate"] == "" {
		t.Errorf("the constants are %v", known)
	}
}
