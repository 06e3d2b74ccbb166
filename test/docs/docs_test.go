// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cocoonstack/vk-sandbox/test/docs/page"
)

const root = "../.."

// notExecuted are the sections with blocks that are not run, once for each block. Each
// block has its reason above it. Add to the list only if a block cannot be run.
var notExecuted = []string{
	"README.md: See it work",
	"README.md: See it work",
	"docs/development.md: A cluster to work with",
	"docs/development.md: A cluster to work with",
	"docs/development.md: Code generation",
	"docs/development.md: Release",
	"docs/development.md: Run one test",
	"docs/development.md: kind",
	"docs/installation.md: The image",
	"docs/installation.md: The image",
	"docs/operations.md: A table from another cluster or host",
	"docs/operations.md: Read NodeClaimStatus",
	"docs/performance.md: Performance",
	"docs/runbooks/VKSandboxDown.md: Diagnosis",
	"docs/testing.md: End-to-end tests",
	"docs/testing.md: Random histories",
	"docs/testing.md: Testing",
}

func load(t *testing.T) []page.Block {
	t.Helper()
	blocks, err := page.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func TestWhatIsNotExecuted(t *testing.T) {
	var got []string
	for _, b := range load(t) {
		if b.Place == page.Nowhere {
			got = append(got, b.Page+": "+b.Section)
			t.Logf("not executed: %s: %s", b, b.Reason)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(notExecuted, got); diff != "" {
		t.Errorf("blocks that are not executed (-decided +pages)\n%s", diff)
	}
}

// TestWalkIsComplete finds sections with commands that the walk does not run, before the
// walk itself reports them. The runbooks are run as whole pages.
func TestWalkIsComplete(t *testing.T) {
	chapters, err := filepath.Glob("walk/*_test.go")
	if err != nil || len(chapters) == 0 {
		t.Fatalf("the walk's chapters are %q, %v", chapters, err)
	}
	var source strings.Builder
	for _, file := range chapters {
		source.WriteString(text(t, filepath.Join("test/docs", file)))
	}
	for _, b := range load(t) {
		here := b.Place == page.Here || b.Place == page.OnHost
		if here && !strings.HasPrefix(b.Page, "docs/runbooks/") && !strings.Contains(source.String(), `"`+b.Section+`"`) {
			t.Errorf("%s is not executed: play its section in test/docs/walk, or say above it why not", b)
		}
	}
}

// TestSyntax checks commands without running them. It is the only check of the commands
// that are not executed.
func TestSyntax(t *testing.T) {
	targets, flags := makeTargets(t), daemonFlags(t)
	for _, b := range load(t) {
		check := exec.CommandContext(t.Context(), "bash", "-n")
		check.Stdin = strings.NewReader(b.Text)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", b, err, out)
		}
		for _, match := range regexp.MustCompile(`(?m)\bmake ((?:[A-Z_]+=\S+ )*)([a-z][a-z0-9-]*)`).FindAllStringSubmatch(b.Text, -1) {
			if !slices.Contains(targets, match[2]) {
				t.Errorf("%s: make has no target %q", b, match[2])
			}
		}
		for _, path := range regexp.MustCompile(`(?m)(?:^|[ =("]|\./)((?:hack|test|examples|charts|packaging|pkg|cmd)/[A-Za-z0-9_./-]+)`).FindAllStringSubmatch(b.Text, -1) {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path[1], "/..."))); err != nil {
				t.Errorf("%s: %v", b, err)
			}
		}
		for _, call := range regexp.MustCompile(`(?m)(?:^|bin/| /|--rm )vk-sandbox(?: claims| check)?((?: --[a-z-]+\S*)+)`).FindAllStringSubmatch(b.Text, -1) {
			for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(call[1], -1) {
				if !slices.Contains(flags, flag) {
					t.Errorf("%s: vk-sandbox has no flag %s", b, flag)
				}
			}
		}
	}
}

// Code in running text is not executed. It may name only existing targets and scripts, and
// a command with arguments belongs in a block.
func TestRunningText(t *testing.T) {
	files, err := page.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	targets := makeTargets(t)
	for _, file := range files {
		for _, span := range regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(text(t, file), -1) {
			words := strings.Fields(span[1])
			switch words[0] {
			case "make":
				if len(words) > 1 && !strings.Contains(words[1], "=") && !slices.Contains(targets, words[1]) {
					t.Errorf("%s: make has no target %q", file, words[1])
				}
			case "kubectl", "helm", "curl", "crictl", "docker", "systemctl", "journalctl":
				if len(words) > 3 {
					t.Errorf("%s: %q is a command that nobody runs: put it into a block", file, span[1])
				}
			}
			if strings.HasPrefix(words[0], "hack/") && !strings.ContainsAny(words[0], "*{<") {
				if _, err := os.Stat(filepath.Join(root, words[0])); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
	}
}

func text(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func makeTargets(t *testing.T) (all []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(text(t, "Makefile"), -1) {
		all = append(all, match[1])
	}
	return all
}

// daemonFlags returns the flags in the generated tables.
func daemonFlags(t *testing.T) (all []string) {
	t.Helper()
	for _, match := range regexp.MustCompile("(?m)^\\| `(--[a-z-]+)` \\|").FindAllStringSubmatch(text(t, "docs/configuration.md"), -1) {
		all = append(all, match[1])
	}
	return all
}
