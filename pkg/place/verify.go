// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// ErrOtherCluster means that a cluster other than the table's answers.
var ErrOtherCluster = errors.New("the API server belongs to another cluster than the claims table")

// errNotAdmitted means that nothing can be verified yet.
var errNotAdmitted = errors.New("the claims table has not been accepted here")

// Verify confirms that the table's cluster is the one that answers: it returns nil only
// if a read that started after the call shows the recorded identity. Data read before the
// call then came from that cluster. An error that is [ErrOtherCluster] means that another
// cluster answered; any other error proves nothing.
//
// Concurrent callers share a read, so that a thousand of them cost two or three.
func (g *Guard) Verify(ctx context.Context) error {
	select {
	case <-g.admitted:
	default:
		return errNotAdmitted
	}
	uid, err := g.reads.get(ctx)
	if err != nil {
		return err
	}
	if recorded := g.config.Table.Place().Cluster; uid != recorded {
		select {
		case g.switched <- uid:
		default: // the watch was already notified
		}
		return fmt.Errorf("%w: cluster %s answered in place of %s", ErrOtherCluster, uid, recorded)
	}
	return nil
}

// sharedReads lets callers share reads like a group commit: a caller that arrives during
// a read waits for the next read, which starts after the call.
type sharedReads struct {
	read func(context.Context) (types.UID, error)

	mu        sync.Mutex
	gathering *sharedRead // the waiters of the next read; nil if there are none
	reading   bool
}

// sharedRead is one read and its waiters.
type sharedRead struct {
	done chan struct{}
	uid  types.UID
	err  error
}

// get returns the result of a read that starts after the call.
func (s *sharedReads) get(ctx context.Context) (types.UID, error) {
	s.mu.Lock()
	if s.gathering == nil {
		s.gathering = &sharedRead{done: make(chan struct{})}
	}
	r := s.gathering
	if !s.reading {
		s.reading = true
		// All waiters share the read, so the end of one caller's context must not cancel
		// it.
		go s.readAll(context.WithoutCancel(ctx))
	}
	s.mu.Unlock()
	select {
	case <-r.done:
		return r.uid, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readAll reads until nobody waits.
func (s *sharedReads) readAll(ctx context.Context) {
	for {
		s.mu.Lock()
		r := s.gathering
		s.gathering = nil
		s.reading = r != nil
		s.mu.Unlock()
		if r == nil {
			return
		}
		r.uid, r.err = s.read(ctx)
		close(r.done)
	}
}
