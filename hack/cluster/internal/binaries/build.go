// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// recipe is how a program is built.
type recipe struct {
	dir     string
	version string
	args    []string
}

func (c *Cache) recipe(b Binary) (recipe, error) {
	r := recipe{dir: filepath.Join(c.Source, b.folder), version: "local"}
	if b.module != "" {
		version, err := requiredVersion(r.dir, b.module)
		if err != nil {
			return recipe{}, err
		}
		r.version = version
	}
	flags := []string{"-s", "-w"}
	if b.variables != nil {
		for _, v := range b.variables(r.version) {
			flags = append(flags, "-X", v)
		}
	}
	r.args = []string{"build", "-trimpath", "-buildvcs=false", "-ldflags", strings.Join(flags, " "), b.pkg}
	return r, nil
}

// Ensure builds those programs that the cache does not hold, one step each, and
// returns the file of each program by name. Of several processes at once, one
// builds and the others wait for it.
func (c *Cache) Ensure(ctx context.Context, list []Binary) (map[string]string, error) {
	missing, err := c.Missing(list)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		if err := c.buildAll(ctx, missing); err != nil {
			return nil, err
		}
	}
	files := map[string]string{}
	for _, b := range list {
		if files[b.Name], err = c.Path(b); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (c *Cache) buildAll(ctx context.Context, list []Binary) error {
	unlock, err := cluster.Lock(ctx, filepath.Join(c.Dir, "lock"), func() {
		c.Progress.Printf("waiting: another process is building into %s", c.Dir)
	})
	if err != nil {
		return err
	}
	defer unlock()
	list, err = c.Missing(list)
	if err != nil {
		return err
	}
	for i, b := range list {
		title := fmt.Sprintf("build %s, once (%d of %d)", b.Name, i+1, len(list))
		err := c.Progress.Step(ctx, title, func(ctx context.Context) error { return c.build(ctx, b) })
		if err != nil {
			return fmt.Errorf("build %s: %w", b.Name, err)
		}
	}
	return nil
}

// build builds one program beside its place and renames it, so that what an
// interrupted build leaves is never taken for a program. The lock is held.
func (c *Cache) build(ctx context.Context, b Binary) error {
	file, err := c.Path(b)
	if err != nil {
		return err
	}
	r, err := c.recipe(b)
	if err != nil {
		return err
	}
	tmp := filepath.Join(filepath.Dir(file), ".partial-"+b.Name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	// The compiler does not overwrite half a program.
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	defer os.Remove(tmp)
	args := append([]string{r.args[0], "-o", tmp}, r.args[1:]...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH, "GOFLAGS=", "GOWORK=off")
	// Asked, and not killed, it clears up after itself.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return errors.Join(fmt.Errorf("go %s: %w", strings.Join(args, " "), err), errors.New(output.String()))
	}
	return os.Rename(tmp, file)
}
