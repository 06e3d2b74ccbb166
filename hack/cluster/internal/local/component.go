// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

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
	// stopGrace is how long a process may take to end when asked to.
	stopGrace = 5 * time.Second
)

// component is a program of the cluster.
type component struct {
	name string
	// in are the namespaces to run in.
	in   *namespaces
	argv []string
	// inputs are files that the program reads only when it starts.
	inputs []string
	log    string
	// attr overrides how the process is made; nil for a session of its own.
	attr *syscall.SysProcAttr
	// extraFiles are passed on from descriptor 3.
	extraFiles []*os.File
	// healthy returns nil once the program does its work.
	healthy func(context.Context) error
}

// supervisor starts components, keeps their records and watches their health.
type supervisor struct {
	records records
	cgroup  cgroup
	// children are the processes started by this run; each is waited for.
	children sync.WaitGroup
}

// start starts a component, unless it runs already with the same arguments and
// inputs.
func (s *supervisor) start(ctx context.Context, c component) (*process, error) {
	digest, err := digestFiles(c.inputs)
	if err != nil {
		return nil, err
	}
	old, err := s.records.load(c.name)
	if err != nil {
		return nil, err
	}
	if old != nil && old.alive() {
		if slices.Equal(old.Args, c.argv) && old.Inputs == digest && !old.ending() {
			return old, nil
		}
		if err := stop(ctx, []*process{old}, stopGrace); err != nil {
			return nil, err
		}
	}
	p := &process{Name: c.name, Args: c.argv, Log: c.log, Inputs: digest}
	if err := s.spawn(p, c); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	return p, nil
}

func (s *supervisor) spawn(p *process, c component) error {
	if err := os.MkdirAll(filepath.Dir(c.log), 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = c.extraFiles
	cmd.SysProcAttr = c.attr
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	// A session of its own: an interrupt of this command must not reach it.
	cmd.SysProcAttr.Setsid = true
	if err := c.in.start(cmd); err != nil {
		return err
	}
	p.PID = cmd.Process.Pid
	err = p.identify()
	if err == nil {
		err = s.records.save(p)
	}
	if err == nil {
		err = s.cgroup.add(p.PID)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return err
	}
	s.children.Go(func() { _ = cmd.Wait() })
	return nil
}

// wait returns when a component is healthy. The error has the last lines of the
// component's log.
func (s *supervisor) wait(ctx context.Context, p *process, healthy func(context.Context) error) error {
	deadline := time.Now().Add(healthTimeout)
	for {
		attempt, stop := context.WithTimeout(ctx, 5*time.Second)
		err := healthy(attempt)
		stop()
		switch {
		case err == nil:
			return nil
		case !p.alive():
			return p.failure(fmt.Errorf("%s ended", p.Name))
		case time.Now().After(deadline):
			return p.failure(fmt.Errorf("%s is not healthy after %s: %w", p.Name, healthTimeout, err))
		}
		if err := sleep(ctx); err != nil {
			return fmt.Errorf("wait for %s: %w", p.Name, err)
		}
	}
}

// digestFiles returns a digest of the files' content.
func digestFiles(files []string) (string, error) {
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
