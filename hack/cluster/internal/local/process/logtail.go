// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	tailLines = 20
	tailBytes = 64 << 10
)

// Failure adds the last lines of the process's log to an error.
func (p *Process) Failure(err error) error {
	lines, tailErr := tail(p.Log)
	if tailErr != nil {
		return fmt.Errorf("%w; its log can not be read: %w", err, tailErr)
	}
	return fmt.Errorf("%w\n--- the last lines of %s ---\n%s\n---", err, p.Log, lines)
}

// tail returns the last lines of a file.
func tail(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", err
	}
	content := make([]byte, min(size, tailBytes))
	if _, err := f.ReadAt(content, size-int64(len(content))); err != nil && err != io.EOF {
		return "", err
	}
	lines := strings.Split(string(bytes.TrimSpace(content)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), nil
}
