// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"
)

// measureAll takes every measurement, round by round.
func measureAll(ctx context.Context, o *options, r *report) (err error) {
	c, err := openCluster(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// What was installed is removed when the run was interrupted, too.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if removeErr := c.remove(last); err == nil {
			err = removeErr
		}
	}()
	if err := measureBinary(o, r); err != nil {
		return err
	}
	for r.round = range o.rounds {
		say("round %d of %d", r.round+1, o.rounds)
		if err := measureRound(ctx, o, c, r); err != nil {
			return fmt.Errorf("round %d: %w", r.round+1, err)
		}
	}
	return nil
}

// measurement is a part of a round, which takes some of the rows.
type measurement struct {
	name string
	take func(context.Context, *options, *cluster, *report) error
}

// measurements are in the order in which a round takes them.
func measurements() []measurement {
	return []measurement{
		{"bursts", measureTurns},
		{"budget", measureBudget},
		{"loaded", measureLoaded},
		{"growth", measureGrowth},
		{"fleet", measureFleet},
		{"table", measureTable},
	}
}

func measurementNames() (names []string) {
	for _, m := range measurements() {
		names = append(names, m.name)
	}
	return names
}

func measureRound(ctx context.Context, o *options, c *cluster, r *report) error {
	for _, m := range measurements() {
		if len(o.only) > 0 && !slices.Contains(o.only, m.name) {
			continue
		}
		if err := m.take(ctx, o, c, r); err != nil {
			return err
		}
	}
	return nil
}

// measureTurns takes the rows that both subjects have, in turns that change over.
func measureTurns(ctx context.Context, o *options, c *cluster, r *report) error {
	fast := func() error { return measureBursts(ctx, o, r, newDaemon(o, c, fastClient()...), false) }
	peer := func() error { return measureBursts(ctx, o, r, newKWOK(o, c), true) }
	if r.round%2 == 1 {
		fast, peer = peer, fast
	}
	if err := fast(); err != nil {
		return err
	}
	return peer()
}

// say tells whoever waits what is going on.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
