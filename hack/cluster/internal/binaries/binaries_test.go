// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// fakeSource makes a source folder with the program ./pause and returns a cache
// for it.
func fakeSource(t *testing.T) *Cache {
	t.Helper()
	c := &Cache{Dir: t.TempDir(), Source: t.TempDir(), Progress: quiet(t)}
	write(t, filepath.Join(c.Source, "go.mod"), "module example.com/x\n\ngo 1.26\n")
	write(t, filepath.Join(c.Source, "pause", "main.go"), "package main\n\nfunc main() {}\n")
	return c
}

func quiet(t *testing.T) *progress.Reporter {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "progress"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return progress.New(f)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

var pause = Binary{Name: "pause", pkg: "./pause", folder: "."}

func TestEnsureBuildsOnce(t *testing.T) {
	c := fakeSource(t)
	files, err := c.Ensure(t.Context(), []Binary{pause})
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(files["pause"]).Run(); err != nil {
		t.Errorf("the program does not run: %v", err)
	}
	write(t, files["pause"], "kept")
	again, err := c.Ensure(t.Context(), []Binary{pause})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(again["pause"]); err != nil || string(content) != "kept" {
		t.Errorf("built a second time: %v", err)
	}
	write(t, filepath.Join(c.Source, "pause", "main.go"), "package main\n\nfunc main() { println() }\n")
	changed, err := c.Path(pause)
	if err != nil || changed == files["pause"] {
		t.Errorf("a changed source has the same place %s, %v", changed, err)
	}
}

func TestAFailedBuildIsNotTakenForAProgram(t *testing.T) {
	c := fakeSource(t)
	write(t, filepath.Join(c.Source, "pause", "main.go"), "package main\n\nfunc main() { undefinedName() }\n")
	_, err := c.Ensure(t.Context(), []Binary{pause})
	if err == nil || !strings.Contains(err.Error(), "undefinedName") {
		t.Fatalf("the error does not have the compiler's words: %v", err)
	}
	missing, err := c.Missing([]Binary{pause})
	if err != nil || len(missing) != 1 {
		t.Errorf("missing %v, %v", missing, err)
	}
	left, err := filepath.Glob(filepath.Join(c.Dir, "*", ".*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAnInterruptedBuildIsNotTakenForAProgram(t *testing.T) {
	c := fakeSource(t)
	file, err := c.Path(pause)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(filepath.Dir(file), ".partial-pause"), "half")
	files, err := c.Ensure(t.Context(), []Binary{pause})
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(files["pause"]).Run(); err != nil {
		t.Errorf("the program does not run: %v", err)
	}
}

func TestVersions(t *testing.T) {
	source := filepath.Join("..", "..")
	version, err := KubernetesVersion(source)
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Fatalf("version %q, %v", version, err)
	}
	c := &Cache{Dir: t.TempDir(), Source: source}
	for _, b := range append(Kubernetes(), Clients()...) {
		r, err := c.recipe(b)
		if err != nil {
			t.Errorf("%s: %v", b.Name, err)
			continue
		}
		flags := strings.Join(r.args, " ")
		if strings.HasPrefix(b.Name, "kube") && !strings.Contains(flags, "component-base/version.gitVersion="+version) {
			t.Errorf("%s is not told its version: %s", b.Name, flags)
		}
		if b.Name == "helm" && !strings.Contains(flags, "version.version=v3.") {
			t.Errorf("helm is not told its version: %s", flags)
		}
		if _, err := c.Path(b); err != nil {
			t.Errorf("%s: %v", b.Name, err)
		}
	}
}

func TestKubernetesVariables(t *testing.T) {
	got := kubernetesVariables("v1.37.2")
	for _, want := range []string{
		"k8s.io/component-base/version.gitMajor=1", "k8s.io/component-base/version.gitMinor=37",
		"k8s.io/client-go/pkg/version.gitVersion=v1.37.2",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%v lacks %s", got, want)
		}
	}
}
