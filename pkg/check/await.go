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

// step is something that is waited for.
type step struct {
	// node is whose step it is; empty for the whole installation.
	node string
	// wanted is what is waited for, as the error and the progress name it.
	wanted string
	// next is what to do when it does not come.
	next string
}

// observation is what was seen when a step looked.
type observation struct {
	// done: it has come.
	done bool
	// state is what there is instead.
	state string
}

// await looks until the step is done, and tells when what it sees changes. A look
// that fails is repeated, unless the API server has refused it: an API server
// that is away may come back in time. The error says what was seen last.
func (r *run) await(ctx context.Context, s step, look func(context.Context) (observation, error)) error {
	began, last := time.Now(), "nothing"
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		seen, err := look(ctx)
		switch {
		case err != nil && final(err):
			return false, err
		case err != nil && ctx.Err() != nil:
			return false, nil // a look cut off by the end says less than the one before
		case err != nil:
			seen = observation{state: err.Error()}
		}
		if !seen.done && seen.state != last {
			last = seen.state
			r.say("%swaiting for %s: %s", prefix(s.node), s.wanted, last)
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

// ended is an observation after which waiting is of no use.
type ended struct{ error }

// final reports whether asking again would not help.
func final(err error) bool {
	if _, ok := err.(ended); ok { //nolint:errorlint // made here, and never wrapped
		return true
	}
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err)
}
