// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// Stop asks processes to end, ends them after a grace time, and returns when
// none runs. Processes that have ended already are fine.
func Stop(ctx context.Context, list []*Process, grace time.Duration) error {
	list = slices.DeleteFunc(slices.Clone(list), func(p *Process) bool { return !p.Alive() })
	for _, step := range []struct {
		signal syscall.Signal
		wait   time.Duration
	}{{syscall.SIGTERM, grace}, {syscall.SIGKILL, 10 * time.Second}} {
		if len(list) == 0 {
			return nil
		}
		for _, p := range list {
			if err := p.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return fmt.Errorf("send %v to %s (process %d): %w", step.signal, p.Name, p.PID, err)
			}
		}
		deadline := time.Now().Add(step.wait)
		for len(list) > 0 && time.Now().Before(deadline) {
			if err := Sleep(ctx); err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(p *Process) bool { return !p.Alive() })
		}
	}
	if len(list) > 0 {
		return fmt.Errorf("%s (process %d) does not end, not even by SIGKILL", list[0].Name, list[0].PID)
	}
	return nil
}

// Sleep waits until it is time to look again, or until ctx is done, which is an
// error.
func Sleep(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}
