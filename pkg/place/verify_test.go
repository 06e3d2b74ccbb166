// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

func admitted(t *testing.T) *daemon {
	t.Helper()
	d := start(t, fileOf(`{"cluster":"c","host":"h"}`), &cluster{uid: "c"}, "h")
	if !d.open() {
		t.Fatal("not admitted")
	}
	return d
}

func TestVerify(t *testing.T) {
	away := errors.New("connection refused")
	synctest.Test(t, func(t *testing.T) {
		d := admitted(t)
		if err := d.Verify(t.Context()); err != nil {
			t.Errorf("in the same cluster: %v", err)
		}
		d.cluster.set("", away)
		if err := d.Verify(t.Context()); !errors.Is(err, away) || errors.Is(err, place.ErrOtherCluster) {
			t.Errorf("without an answer: %v", err)
		}
		d.cluster.set("c", nil)
		if err := d.Verify(t.Context()); err != nil {
			t.Errorf("with an answer again: %v", err)
		}
		d.cluster.set("d", nil)
		if err := d.Verify(t.Context()); !errors.Is(err, place.ErrOtherCluster) {
			t.Errorf("in another cluster: %v", err)
		}
		if err := <-d.ended; !errors.Is(err, place.ErrOtherCluster) {
			t.Errorf("the guard ended with %v", err)
		}
	})
}

// A read that was under way when the caller asked proves nothing about what the
// caller read before: the address may have been switched in between.
func TestVerifyReadsAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := admitted(t)
		d.cluster.takes = 4 * time.Second
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- d.Verify(t.Context()) }()
		time.Sleep(time.Second)
		d.cluster.set("d", nil) // the first read has been sent to c
		go func() { second <- d.Verify(t.Context()) }()
		if err := <-first; err != nil {
			t.Errorf("the read before the switch: %v", err)
		}
		if err := <-second; !errors.Is(err, place.ErrOtherCluster) {
			t.Errorf("asked after the switch, and told %v", err)
		}
		if err := <-d.ended; !errors.Is(err, place.ErrOtherCluster) {
			t.Errorf("the guard ended with %v", err)
		}
	})
}

// A burst of verdicts does not double the requests.
func TestVerifyIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := admitted(t)
		d.cluster.takes = time.Second
		before := d.cluster.count()
		got := make(chan error, 1000)
		for range cap(got) {
			go func() { got <- d.Verify(t.Context()) }()
		}
		for range cap(got) {
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
		if reads := d.cluster.count() - before; reads > 2 {
			t.Errorf("%d reads for %d callers at once, want at most 2", reads, cap(got))
		}
		if err := d.end(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// A caller that gives up does not take the read from the others.
func TestVerifyCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := admitted(t)
		d.cluster.takes = 4 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan error, 1), make(chan error, 1)
		go func() { first <- d.Verify(ctx) }()
		synctest.Wait()
		go func() { second <- d.Verify(t.Context()) }()
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that gave up: %v", err)
		}
		if err := <-second; err != nil {
			t.Errorf("the other caller: %v", err)
		}
		_ = d.end()
	})
}
