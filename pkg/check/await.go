// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
)

// step is a state that the check waits for.
type step struct {
	// node is the node of the step; empty for the whole installation.
	node string
	// wanted names the awaited state, in errors and progress lines.
	wanted string
	// next is what to do if the state is not reached.
	next string
}

// observation is the result of one look.
type observation struct {
	// done is true if the state is reached.
	done bool
	// state describes the present state otherwise.
	state string
}

// await calls look until the step is done, and prints changes of the observation. A
// failed look is repeated, because the API server may only be unreachable for a while,
// unless the API server refused it. The error contains the last observation.
func (r *run) await(ctx context.Context, s step, look func(context.Context) (observation, error)) error {
	began, last := time.Now(), "nothing"
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		seen, err := look(ctx)
		switch {
		case err != nil && final(err):
			return false, err
		case err != nil && ctx.Err() != nil:
			return false, nil // keep the earlier observation: this look was cut off
		case err != nil:
			seen = observation{state: err.Error()}
		}
		if !seen.done && seen.state != last {
			last = seen.state
			r.printf("%swaiting for %s: %s", prefix(s.node), s.wanted, last)
		}
		return seen.done, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("no %s after %s, %w; last seen: %s; next: %s",
			s.wanted, time.Since(began).Round(time.Second), context.Cause(ctx), last, s.next)
	default:
		return fmt.Errorf("no %s: %w; next: %s", s.wanted, err, s.next)
	}
}

func prefix(node string) string {
	if node == "" {
		return ""
	}
	return node + ": "
}

// ended is an observation after which waiting is useless.
type ended struct{ error }

// final reports whether a retry cannot succeed.
func final(err error) bool {
	if _, ok := err.(ended); ok { //nolint:errorlint // made here, and never wrapped
		return true
	}
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}
