// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// row is a row of the claims file. It is read by the documented format, not with the
// daemon's decoder.
type row struct {
	ID        string    `json:"id"`
	Token     string    `json:"token"`
	PodUID    types.UID `json:"podUID"`
	Authority types.UID `json:"authority"`
	// Key is the pod key; in the releasing list the daemon writes it too.
	Key       string `json:"key"`
	releasing bool
}

// readTable reads the file; a missing one has no rows.
func readTable(path string) (map[string]row, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file struct {
		Claims    map[string]row `json:"claims"`
		Releasing []row          `json:"releasing"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("the claims file (%d bytes) cannot be read: %w", len(data), err)
	}
	if file.Claims == nil {
		return nil, fmt.Errorf("the claims file (%d bytes) has no claims", len(data))
	}
	rows := map[string]row{}
	holders := map[types.UID]bool{}
	add := func(r row) error {
		if _, twice := rows[r.ID]; twice || r.ID == "" || r.Token == "" {
			return fmt.Errorf("sandbox %q is in two rows of the claims file, or lacks its id or token", r.ID)
		}
		rows[r.ID] = r
		return nil
	}
	for key, r := range file.Claims {
		if holders[r.PodUID] {
			return nil, fmt.Errorf("pod %s holds two claims in the file", r.PodUID)
		}
		r.Key, holders[r.PodUID] = key, true
		if err := add(r); err != nil {
			return nil, err
		}
	}
	for _, r := range file.Releasing {
		r.releasing = true
		if err := add(r); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// checkModes checks that only the owner can read the files. A kill can leave the
// temporary file behind, which holds the same tokens.
func checkModes(path string) error {
	for name, most := range map[string]fs.FileMode{filepath.Dir(path): 0o700, path: 0o600, path + ".tmp": 0o600} {
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().Perm() != most:
			return fmt.Errorf("%s has mode %v, want %v", filepath.Base(name), info.Mode().Perm(), most)
		}
	}
	return nil
}

// redact replaces the tokens in a text.
func redact(text []byte) []byte {
	return regexp.MustCompile(host.TokenPrefix+`\w+`).ReplaceAll(text, []byte("<token>"))
}
