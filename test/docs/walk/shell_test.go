// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is the time limit of one block.
const patience = 12 * time.Minute

// shell is the reader's shell. Variables that a block sets exist in the next one.
type shell struct {
	process *exec.Cmd
	stdin   io.Writer
	output  *bufio.Reader
	script  string
	ended   chan error
}

const endOfBlock = "--- end of block ---"

// newShell starts a bash in the project's top folder. It exits at the first failed
// command or at the end of the test.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{script: filepath.Join(t.TempDir(), "block.sh"), ended: make(chan error, 1)}
	s.process = exec.Command("bash", "--noprofile", "--norc", "-o", "errexit", "-o", "nounset", "-o", "pipefail")
	s.process.Dir = root
	// What a block starts can be ended with it.
	s.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, err := s.process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin, s.output = stdin, bufio.NewReader(reader)
	s.process.Stdout, s.process.Stderr = writer, writer
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	go func() { s.ended <- s.process.Wait() }()
	t.Cleanup(func() {
		_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) // it may have ended
		reader.Close()
	})
	return s
}

// run runs commands and returns their output. After an error the shell cannot be used.
func (s *shell) run(commands string) (string, error) {
	if err := os.WriteFile(s.script, []byte(commands), 0o600); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(s.stdin, "source '%s' </dev/null\necho; echo '%s'\n", s.script, endOfBlock); err != nil {
		return "", err
	}
	late := time.AfterFunc(patience, func() { _ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) })
	defer late.Stop()
	var said strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		if strings.TrimSpace(line) == endOfBlock {
			return strings.TrimSuffix(said.String(), "\n"), nil
		}
		said.WriteString(line)
		if err != nil {
			return said.String(), fmt.Errorf("a command has failed: %w", <-s.ended)
		}
	}
}
