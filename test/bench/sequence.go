// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
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
	for round := range o.rounds {
		say("round %d of %d", round+1, o.rounds)
		if err := measureRound(ctx, o, c, r, round); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	return nil
}

func measureRound(ctx context.Context, o *options, c *cluster, r *report, round int) error {
	fast := func() error { return measureBursts(ctx, o, r, newDaemon(o, c, fastClient()...), false) }
	peer := func() error { return measureBursts(ctx, o, r, newKWOK(o, c), true) }
	turns := []func() error{fast, peer}
	if round%2 == 1 {
		turns = []func() error{peer, fast}
	}
	turns = append(turns,
		func() error { return measureBudget(ctx, o, c, r) },
		func() error { return measureLoaded(ctx, o, c, r) },
		func() error { return measureGrowth(ctx, o, c, r) },
		func() error { return measureFleet(ctx, o, r) },
		func() error { return measureTable(ctx, o, c, r) },
	)
	for _, turn := range turns {
		if err := turn(); err != nil {
			return err
		}
	}
	return nil
}

// say tells whoever waits what is going on.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}
