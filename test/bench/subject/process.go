// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// stopTimeout is how long a subject may take to stop.
const stopTimeout = 20 * time.Second

// Process is a subject's process.
type Process struct {
	cmd   *exec.Cmd
	log   io.Closer
	ended chan struct{}
}

// StartProcess starts a program with its output in the folder of the logs.
func StartProcess(ctx context.Context, logs, name string, env []string, argv ...string) (*Process, error) {
	log, err := logFile(logs, name)
	if err != nil {
		return nil, err
	}
	// It is ended by stop, in good order, whatever becomes of a context.
	p := &Process{cmd: exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...), log: log, ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	return p, nil
}

func logFile(logs, name string) (*os.File, error) {
	if logs == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(logs, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
}

// Alive reports a process that has ended by itself.
func (p *Process) Alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s has ended by itself: %v; run with BENCH_LOGS=<folder> to see why", p.cmd.Path, p.cmd.ProcessState)
	default:
		return nil
	}
}

// Stop ends the process and returns when it has ended.
func (p *Process) Stop() error {
	if p == nil {
		return nil
	}
	defer p.log.Close()
	if err := p.Alive(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(stopTimeout):
		err := fmt.Errorf("%s does not stop", p.cmd.Path)
		return errors.Join(err, p.cmd.Process.Kill())
	}
}

// Usage is what a process has used: CPU seconds since its start, and bytes of
// resident memory.
func (p *Process) Usage() (cpu float64, resident int, err error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	stat, err := proc.Stat()
	return stat.CPUTime(), stat.ResidentMemory(), err
}
