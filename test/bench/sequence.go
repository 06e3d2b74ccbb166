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
		{"bursts", inTurns(measureBursts)},
		{"claims", inTurns(measureClaims)},
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

// taker takes rows that both subjects have from one that has started. It gives each figure
// by its row.
type taker func(ctx context.Context, o *options, s subject.Subject, figure func(row string, figure float64)) error

// inTurns takes the rows from both subjects, in turns that change over.
func inTurns(take taker) func(context.Context, *options, *cluster.Cluster, *results.Report) error {
	return func(ctx context.Context, o *options, c *cluster.Cluster, r *results.Report) error {
		from := func(s subject.Subject, figure func(string, float64)) func() error {
			return func() error {
				return subject.With(ctx, s, func() error { return take(ctx, o, s, figure) })
			}
		}
		first := from(subject.NewDaemon(o.programs, c, subject.FastClient()...), r.Ours)
		second := from(subject.NewKWOK(o.programs, c), r.Other)
		if r.Round%2 == 1 {
			first, second = second, first
		}
		if err := first(); err != nil {
			return err
		}
		return second()
	}
}
