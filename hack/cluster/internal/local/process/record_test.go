// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"errors"
	"os"
	"os/exec"
	"reflect"
	"syscall"
	"testing"
)

func TestParseStat(t *testing.T) {
	const tail = " S 1 2 2 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 100 200"
	for name, test := range map[string]struct {
		content string
		want    stat
		bad     bool
	}{
		"plain":                  {content: "77 (etcd)" + tail, want: stat{start: 4711, state: 'S'}},
		"name with parentheses":  {content: "77 (a) Z 1 (b)" + tail, want: stat{start: 4711, state: 'S'}},
		"name with spaces":       {content: "77 (tmux: server)" + tail, want: stat{start: 4711, state: 'S'}},
		"exiting":                {content: "77 (etcd) S 1 2 2 0 -1 4194564" + tail[len(" S 1 2 2 0 -1 4194560"):], want: stat{4711, 'S', true}},
		"empty":                  {content: "", bad: true},
		"cut short":              {content: "77 (etcd) S 1 2", bad: true},
		"start is not a number":  {content: "77 (e) S 1 2 2 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 x 100", bad: true},
		"flags are no number":    {content: "77 (e) S 1 2 2 0 -1 x 1 2 3 4 5 6 7 8 20 0 1 0 1 100", bad: true},
		"closing before opening": {content: "77 ) etcd (", bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStat([]byte(test.content))
			if (err != nil) != test.bad || got != test.want {
				t.Fatalf("parseStat = %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// sleeper starts a process that runs until the test ends.
func sleeper(t *testing.T) *Process {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	p := &Process{Name: "sleeper", PID: cmd.Process.Pid}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAnotherProcessWithThePIDIsNotSignalled(t *testing.T) {
	for name, change := range map[string]func(*Process){
		"other start":   func(p *Process) { p.StartTime-- },
		"other boot":    func(p *Process) { p.BootID = "another" },
		"no such PID":   func(p *Process) { p.PID = 1 << 22 },
		"never started": func(p *Process) { *p = Process{PID: p.PID} },
	} {
		t.Run(name, func(t *testing.T) {
			real := sleeper(t)
			recorded := *real
			change(&recorded)
			if recorded.Alive() {
				t.Error("taken for the recorded process")
			}
			if err := recorded.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
				t.Errorf("signal: %v", err)
			}
			if !real.Alive() {
				t.Error("the process was ended")
			}
		})
	}
}

func TestStop(t *testing.T) {
	p := sleeper(t)
	if !p.Alive() {
		t.Fatal("a running process is not alive")
	}
	if err := Stop(t.Context(), []*Process{p}, StopGrace); err != nil {
		t.Fatal(err)
	}
	if p.Alive() {
		t.Error("alive after stop")
	}
	if err := Stop(t.Context(), []*Process{p}, StopGrace); err != nil {
		t.Errorf("stop of an ended process: %v", err)
	}
}

func TestStopKillsWhatIgnoresTheRequest(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap "" TERM; echo ready; while :; do sleep 1; done`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	p := &Process{Name: "stubborn", PID: cmd.Process.Pid}
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	if err := Stop(t.Context(), []*Process{p}, 0); err != nil {
		t.Fatal(err)
	}
	if p.Alive() {
		t.Error("alive after stop")
	}
}

func TestRecords(t *testing.T) {
	r := Records{t.TempDir()}
	if p, err := r.Load("etcd"); p != nil || err != nil {
		t.Fatalf("load without a record: %v, %v", p, err)
	}
	want := []*Process{
		{Name: "etcd", PID: 1, StartTime: 2, BootID: "b", Args: []string{"etcd", "-x"}, Log: "l", Inputs: "i"},
		{Name: "host-1.kubelet", PID: 3},
	}
	for _, p := range want {
		if err := r.save(p); err != nil {
			t.Fatal(err)
		}
	}
	got, err := r.All()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("all() = %v, %v", got, err)
	}
}
