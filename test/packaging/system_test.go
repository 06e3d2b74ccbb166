// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// system is a running systemd in its own namespaces.
type system struct {
	t      *testing.T
	pid    string // of systemd, outside
	output bytes.Buffer
}

// boot starts systemd with the files in folder mounted over this machine's files. It ends
// with the test.
func boot(t *testing.T, folder string) *system {
	t.Helper()
	s := &system{t: t}
	script, err := filepath.Abs("testdata/boot.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", script, folder)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // it is killed
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		// The control group has the process's id. It is empty when all have gone.
		remove := fmt.Sprintf("mount -t cgroup2 none /mnt; for i in $(seq 50); do "+
			"find /mnt/vk-sandbox-boot-%d -depth -type d -exec rmdir {} + && exit; sleep 0.1; done 2>/dev/null; exit 1", cmd.Process.Pid)
		if output, err := exec.Command("unshare", "--mount", "bash", "-c", remove).CombinedOutput(); err != nil {
			t.Errorf("remove the control group: %v\n%s", err, output)
		}
	})
	children := fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		pid, _ := os.ReadFile(children)
		s.pid = strings.TrimSpace(string(pid))
		if _, err := os.Stat(s.path("/run/systemd/private")); s.pid != "" && err == nil {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("systemd did not start within a minute:\n%s", s.output.String())
		}
	}
}

// do runs a command in the system and returns its output.
func (s *system) do(command ...string) string {
	s.t.Helper()
	args := []string{"--target=" + s.pid, "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--"}
	output, err := exec.CommandContext(s.t.Context(), "nsenter", append(args, command...)...).CombinedOutput()
	if err != nil {
		status, _ := exec.CommandContext(s.t.Context(), "nsenter", append(args, "systemctl", "--no-pager", "status", "vk-sandbox.service")...).CombinedOutput()
		s.t.Fatalf("%s: %v\n%s--- status\n%s--- systemd\n%s--- daemon\n%s", strings.Join(command, " "), err, output, status, s.output.String(), s.log())
	}
	return string(output)
}

// path returns the path of a file of the system on this machine.
func (s *system) path(file string) string { return filepath.Join("/proc", s.pid, "root", file) }

// log returns the daemon's log.
func (s *system) log() string {
	text, _ := os.ReadFile(s.path("/vk-sandbox.log")) // not there before the first line
	return string(text)
}
