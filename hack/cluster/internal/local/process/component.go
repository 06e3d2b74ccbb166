// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	// healthTimeout is how long a component may take from its start until it
	// is healthy.
	healthTimeout = 90 * time.Second
	pollInterval  = 50 * time.Millisecond
	// StopGrace is how long a process may take to end when asked to.
	StopGrace = 5 * time.Second
)

// Component is a program of the cluster.
type Component struct {
	Name string
	// In are the namespaces to run in.
	In   *Namespaces
	Argv []string
	// Inputs are files that the program reads only when it starts.
	Inputs []string
	Log    string
	// Attr overrides how the process is made; nil for a session of its own.
	Attr *syscall.SysProcAttr
	// ExtraFiles are passed on from descriptor 3.
	ExtraFiles []*os.File
	// Healthy returns nil once the program does its work.
	Healthy func(context.Context) error
}

// Supervisor starts components, keeps their records and watches their health.
type Supervisor struct {
	Records Records
	Cgroup  Cgroup
	// children are the processes started by this run; each is waited for.
	children sync.WaitGroup
}

// NewSupervisor returns a Supervisor that keeps its records in a folder, and its processes in a cgroup.
func NewSupervisor(folder string, group Cgroup) *Supervisor {
	return &Supervisor{Records: Records{folder}, Cgroup: group}
}

// Start starts a component, unless it runs already with the same arguments and
// inputs.
func (s *Supervisor) Start(ctx context.Context, c Component) (*Process, error) {
	digest, err := DigestFiles(c.Inputs)
	if err != nil {
		return nil, err
	}
	old, err := s.Records.Load(c.Name)
	if err != nil {
		return nil, err
	}
	if old != nil && old.Alive() {
		if slices.Equal(old.Args, c.Argv) && old.Inputs == digest && !old.Ending() {
			return old, nil
		}
		if err := Stop(ctx, []*Process{old}, StopGrace); err != nil {
			return nil, err
		}
	}
	p := &Process{Name: c.Name, Args: c.Argv, Log: c.Log, Inputs: digest}
	if err := s.spawn(p, c); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	return p, nil
}

func (s *Supervisor) spawn(p *Process, c Component) error {
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = c.ExtraFiles
	cmd.SysProcAttr = c.Attr
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// A session of its own: an interrupt of this command must not reach it.
	cmd.SysProcAttr.Setsid = true
	if err := c.In.start(cmd); err != nil {
		return err
	}
	p.PID = cmd.Process.Pid
	err = p.Identify()
	if err == nil {
		err = s.Records.save(p)
	}
	if err == nil {
		err = s.Cgroup.add(p.PID)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	s.children.Go(func() { _ = cmd.Wait() })
	return nil
}

// Wait returns when a component is healthy. The error has the last lines of the
// component's log.
func (s *Supervisor) Wait(ctx context.Context, p *Process, healthy func(context.Context) error) error {
	deadline := time.Now().Add(healthTimeout)
	for {
		attempt, stop := context.WithTimeout(ctx, 5*time.Second)
		err := healthy(attempt)
		stop()
		switch {
		case err == nil:
			return nil
		case !p.Alive():
			return p.Failure(fmt.Errorf("%s ended", p.Name))
		case time.Now().After(deadline):
			return p.Failure(fmt.Errorf("%s is not healthy after %s: %w", p.Name, healthTimeout, err))
		}
		if err := Sleep(ctx); err != nil {
			return fmt.Errorf("wait for %s: %w", p.Name, err)
		}
	}
}

// DigestFiles returns a digest of the files' content.
func DigestFiles(files []string) (string, error) {
	hash := sha256.New()
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(hash, "%s %x\n", file, sha256.Sum256(content))
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
