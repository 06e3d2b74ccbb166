// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// Process is the record of a started process. PID, StartTime and BootID
// together name one process for ever; a PID alone does not.
type Process struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
	// StartTime is in clock ticks since the machine's start.
	StartTime uint64   `json:"startTime"`
	BootID    string   `json:"bootID"`
	Args      []string `json:"args"`
	Log       string   `json:"log"`
	// Inputs is a digest of the files that the process reads when it starts.
	Inputs string `json:"inputs"`
}

// Identify fills in the identity of the running process p.PID.
func (p *Process) Identify() error {
	now, err := processStat(p.PID)
	if err != nil {
		return err
	}
	boot, err := bootID()
	if err != nil {
		return err
	}
	p.StartTime, p.BootID = now.start, boot
	return nil
}

// Alive reports whether the recorded process still runs. A zombie does not.
func (p *Process) Alive() bool {
	now, err := processStat(p.PID)
	if err != nil || now.start != p.StartTime || now.state == 'Z' || now.state == 'X' {
		return false
	}
	boot, err := bootID()
	return err == nil && boot == p.BootID
}

// Ending reports whether the recorded process is on its way out. A host's init
// can be so for seconds, until all of the host has ended.
func (p *Process) Ending() bool {
	now, err := processStat(p.PID)
	return err != nil || now.start != p.StartTime || now.exiting
}

// There reports whether the machine still lists the recorded process, if only
// as a zombie.
func (p *Process) There() bool {
	now, err := processStat(p.PID)
	return err == nil && now.start == p.StartTime
}

// Signal sends a signal to the recorded process, and to no other: the process
// is held by a descriptor before its identity is looked at.
func (p *Process) Signal(s syscall.Signal) error {
	held, err := os.FindProcess(p.PID)
	if err != nil {
		return err
	}
	defer held.Release()
	if !p.Alive() {
		return os.ErrProcessDone
	}
	return held.Signal(s)
}

// stat is what the kernel says of a process.
type stat struct {
	// start is in clock ticks since the machine's start.
	start   uint64
	state   byte
	exiting bool
}

func processStat(pid int) (stat, error) {
	content, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(content)
}

// parseStat reads /proc/PID/stat. The command's name, the second field, is in
// parentheses and can hold spaces and parentheses itself.
func parseStat(content []byte) (stat, error) {
	_, rest, found := bytes.Cut(content, []byte("("))
	end := bytes.LastIndexByte(rest, ')')
	if !found || end < 0 {
		return stat{}, errors.New("process status without a command name")
	}
	fields := strings.Fields(string(rest[end+1:]))
	if len(fields) < 20 || len(fields[0]) != 1 {
		return stat{}, fmt.Errorf("process status with %d fields after the name", len(fields))
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("process flags: %w", err)
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("process start: %w", err)
	}
	// The kernel's PF_EXITING.
	const exiting = 0x4
	return stat{start: start, state: fields[0][0], exiting: flags&exiting != 0}, nil
}

func bootID() (string, error) {
	content, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(content)), err
}

// Records is a folder of process records.
type Records struct{ dir string }

func (r Records) file(name string) string { return filepath.Join(r.dir, name+".json") }

func (r Records) save(p *Process) error {
	return cluster.WriteJSON(r.file(p.Name), p, 0o644)
}

// Load returns the record of the process called name, or nil if there is none.
func (r Records) Load(name string) (*Process, error) {
	p := &Process{}
	if there, err := cluster.ReadJSON(r.file(name), p); err != nil || !there {
		return nil, err
	}
	return p, nil
}

// All returns every record, sorted by name.
func (r Records) All() ([]*Process, error) {
	files, err := filepath.Glob(r.file("*"))
	if err != nil {
		return nil, err
	}
	var list []*Process
	for _, file := range files {
		p, err := r.Load(strings.TrimSuffix(filepath.Base(file), ".json"))
		if err != nil {
			return nil, err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return list, nil
}
