// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package binaries

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/progress"
)

// Cache holds built programs in folders by version and by what else decides
// their content, so that a fresh clone of the same sources uses them again.
type Cache struct {
	// Dir is the cache's folder.
	Dir string
	// Source is the folder of the cluster module.
	Source string
	// Progress is told of builds.
	Progress *progress.Reporter
}

// NewCache returns the Cache in the user's cache folder.
func NewCache(source string, p *progress.Reporter) (*Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the user's cache folder (set HOME or XDG_CACHE_HOME): %w", err)
	}
	return &Cache{Dir: filepath.Join(dir, "vk-sandbox", "cluster"), Source: source, Progress: p}, nil
}

// Path returns where the cache keeps a program, whether it is there or not.
func (c *Cache) Path(b Binary) (string, error) {
	r, err := c.recipe(b)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	// Without the package, so that programs built alike share a folder.
	for _, arg := range r.args[:len(r.args)-1] {
		fmt.Fprintf(hash, "%q\n", arg)
	}
	inputs := []string{"go.mod", "go.sum"}
	if b.module == "" {
		// A program of this repository is decided by its own source.
		inputs, err = filepath.Glob(filepath.Join(r.dir, b.pkg, "*.go"))
		if err != nil {
			return "", err
		}
		for i := range inputs {
			inputs[i], _ = filepath.Rel(r.dir, inputs[i])
		}
	}
	for _, name := range inputs {
		content, err := os.ReadFile(filepath.Join(r.dir, name))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %x\n", name, sha256.Sum256(content))
	}
	sum := hex.EncodeToString(hash.Sum(nil))[:12]
	folder := fmt.Sprintf("%s-%s-%s-%s-%s", filepath.Base(r.dir), r.version, runtime.GOOS, runtime.GOARCH, sum)
	return filepath.Join(c.Dir, folder, b.Name), nil
}

// Missing returns those programs that the cache does not hold. A file is there
// only when it is whole: a build is renamed into place.
func (c *Cache) Missing(list []Binary) ([]Binary, error) {
	var missing []Binary
	for _, b := range list {
		file, err := c.Path(b)
		if err != nil {
			return nil, err
		}
		switch _, err := os.Stat(file); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, b)
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}
