// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package progress tells a person what a long command is doing, how far it is
// and how long it has taken so far.
package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	terminalTick = time.Second
	logTick      = 10 * time.Second
)

// Reporter prints numbered steps. On a terminal the line of the running step is
// rewritten every second; elsewhere a line is added every ten seconds. Steps
// may run concurrently.
type Reporter struct {
	out      io.Writer
	terminal bool
	tick     time.Duration
	start    time.Time

	mu       sync.Mutex
	expected int
	begun    int
}

// New returns a Reporter that prints to f.
func New(f *os.File) *Reporter {
	r := &Reporter{out: f, tick: logTick, start: time.Now()}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		r.terminal, r.tick = true, terminalTick
	}
	return r
}

// Expect adds n to the number of steps that the command will take.
func (r *Reporter) Expect(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected += n
}

// Printf prints a line of its own.
func (r *Reporter) Printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clear()
	fmt.Fprintf(r.out, format+"\n", args...)
}

// Step runs f as the next step, and returns its error unchanged.
func (r *Reporter) Step(ctx context.Context, title string, f func(context.Context) error) error {
	r.mu.Lock()
	r.begun++
	r.expected = max(r.expected, r.begun)
	label := fmt.Sprintf("[%2d/%d] %s", r.begun, r.expected, title)
	r.mu.Unlock()

	begin := time.Now()
	stop := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { r.report(label, begin, stop) })
	err := f(ctx)
	close(stop)
	ticking.Wait()

	outcome := "done"
	if err != nil {
		outcome = "FAILED"
	}
	r.Printf("%s: %s in %s (total %s)", label, outcome, since(begin), since(r.start))
	return err
}

// A Step is a part of a command's work.
type Step struct {
	Title string
	Do    func(context.Context) error
}

// Steps runs steps in turn until one fails, and returns its error unchanged.
func (r *Reporter) Steps(ctx context.Context, steps ...Step) error {
	for _, s := range steps {
		if err := r.Step(ctx, s.Title, s.Do); err != nil {
			return err
		}
	}
	return nil
}

// report prints that the step is running, until stop is closed.
func (r *Reporter) report(label string, begin time.Time, stop <-chan struct{}) {
	ticker := time.NewTicker(r.tick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		if r.terminal {
			r.mu.Lock()
			r.clear()
			fmt.Fprintf(r.out, "%s ... %s (total %s)", label, since(begin), since(r.start))
			r.mu.Unlock()
		} else {
			r.Printf("%s ... %s (total %s)", label, since(begin), since(r.start))
		}
	}
}

// clear empties the current line of a terminal.
func (r *Reporter) clear() {
	if r.terminal {
		fmt.Fprint(r.out, "\r\x1b[K")
	}
}

// since is the time since t, in the precision that a person cares for.
func since(t time.Time) time.Duration {
	d := time.Since(t)
	if d < time.Minute {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
