// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/control"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
)

const (
	// answerTimeout bounds one request to a simulator.
	answerTimeout = 10 * time.Second
	// releaseTimeout is how long the last microVMs may take to end.
	releaseTimeout = time.Minute
	// warmVMs is the size of an image's pool.
	warmVMs = 8
)

func simulator(h clusterinfo.Host) control.Client { return control.Client{URL: h.SandboxdControlURL} }

// addPools adds a pool for each image to the pools of every host's simulated sandboxd.
// restore takes them away again.
func addPools(ctx context.Context, hosts []clusterinfo.Host, images []string) (restore func() error, err error) {
	before := make([][]config.Pool, len(hosts))
	afterwards := context.WithoutCancel(ctx)
	restore = func() error {
		var errs []error
		for i, h := range hosts {
			if before[i] != nil {
				errs = append(errs, setPools(afterwards, h, before[i]))
			}
		}
		return errors.Join(errs...)
	}
	for i, h := range hosts {
		if before[i], err = pools(ctx, h); err != nil {
			return nil, errors.Join(err, restore())
		}
		if err := setPools(ctx, h, withImages(before[i], images)); err != nil {
			return nil, errors.Join(err, restore())
		}
	}
	return restore, nil
}

// withImages returns the set with a pool for each image that has none.
func withImages(set []config.Pool, images []string) []config.Pool {
	set = slices.Clone(set)
	for _, name := range images {
		key := config.Key{Template: name}.WithDefaults()
		if !slices.ContainsFunc(set, func(p config.Pool) bool { return p.Key == key }) {
			set = append(set, config.Pool{Key: key, Target: warmVMs})
		}
	}
	return set
}

func pools(ctx context.Context, h clusterinfo.Host) ([]config.Pool, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	now, err := simulator(h).Capacity(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the pools of %s: %w", h.Name, err)
	}
	set := []config.Pool{}
	for _, p := range now.Pools {
		set = append(set, config.Pool{Key: p.Key, Target: *p.Target, NoGolden: !*p.Golden})
	}
	return set, nil
}

func setPools(ctx context.Context, h clusterinfo.Host, set []config.Pool) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := simulator(h).SetPools(ctx, set); err != nil {
		return fmt.Errorf("set the pools of %s: %w", h.Name, err)
	}
	return nil
}

// checkMicroVMs prints how many microVMs were claimed since then. It returns an error if
// there was none, or if one of them is not released.
func checkMicroVMs(ctx context.Context, out io.Writer, hosts []clusterinfo.Host, since time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	for {
		claims, left, err := microVMs(ctx, hosts, since)
		switch {
		case err != nil:
			return err
		case claims == 0:
			return errors.New("no microVM was claimed: the Sandboxes were not routed to vk-sandbox")
		case len(left) == 0:
			_, err := fmt.Fprintf(out, "microVMs claimed and released: %d\n", claims)
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the microVMs of these Pods were not released: %v", left)
		case <-time.After(time.Second):
		}
	}
}

// microVMs returns how many were claimed since then, and the Pods of those that are alive.
func microVMs(ctx context.Context, hosts []clusterinfo.Host, since time.Time) (claims int, left []string, err error) {
	for _, h := range hosts {
		t, err := simulator(h).History(ctx, history.Filter{})
		if err != nil {
			return 0, nil, fmt.Errorf("ask the simulator of %s: %w", h.Name, err)
		}
		for _, e := range t.Events {
			if e.Type == history.EventClaimed && e.Time.After(since) {
				claims++
			}
		}
		for _, v := range t.VMs {
			if v.ClaimedAt.After(since) {
				left = append(left, v.ClaimRef)
			}
		}
	}
	return claims, left, nil
}
