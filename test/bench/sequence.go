// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
	"github.com/cocoonstack/vk-sandbox/test/bench/results"
	"github.com/cocoonstack/vk-sandbox/test/bench/subject"
)

// measureAll takes every measurement, round by round.
func measureAll(ctx context.Context, o *options, r *results.Report) (err error) {
	c, err := cluster.Open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		// What was installed is removed when the run was interrupted, too.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		if removeErr := c.Remove(last); err == nil {
			err = removeErr
		}
	}()
	if err := measureBinary(o, r); err != nil {
		return err
	}
	for r.Round = range o.rounds {
		results.Logf("round %d of %d", r.Round+1, o.rounds)
		if err := measureRound(ctx, o, c, r); err != nil {
			return fmt.Errorf("round %d: %w", r.Round+1, err)
		}
	}
	return nil
}

// measurement is a part of a round, which takes some of the rows.
type measurement struct {
	name string
	take func(context.Context, *options, *cluster.Cluster, *results.Report) error
}

// measurements are in the order in which a round takes them.
func measurements() []measurement {
	return []measurement{
		{"bursts", measureTurns},
		{"budget", measureBudget},
		{"loaded", measureLoaded},
		{"burst-scaling", measureBurstScaling},
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

func measureRound(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
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
func measureTurns(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
	fast := func() error {
		return measureBursts(ctx, o, r, subject.NewDaemon(o.programs, c, subject.FastClient()...), false)
	}
	peer := func() error { return measureBursts(ctx, o, r, subject.NewKWOK(o.programs, c), true) }
	if r.Round%2 == 1 {
		fast, peer = peer, fast
	}
	if err := fast(); err != nil {
		return err
	}
	return peer()
}
