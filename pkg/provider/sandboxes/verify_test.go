// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"slices"
	"testing"
	"time"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/test/fakes"
	"github.com/cocoonstack/vk-sandbox/test/faultfs"
)

func TestCheckQuarantined(t *testing.T) {
	for name, tc := range map[string]struct {
		before func(*fixture)
		state  claims.State
		gone   []string
		fails  bool
		lists  bool
	}{
		"it is listed":                    {func(*fixture) {}, claims.Bound, nil, false, true},
		"it is not listed":                {func(f *fixture) { f.node.Lose("sb_1") }, claims.Quarantined, nil, false, true},
		"it has been missing":             {func(f *fixture) { f.node.Lose("sb_1"); f.ask(5) }, claims.Quarantined, []string{"sb_1"}, false, true},
		"missing, and no Pod holds it":    {func(f *fixture) { f.node.Lose("sb_1"); f.ask(5); f.withoutPod["sb_1"] = true }, claims.Quarantined, nil, false, true},
		"no Pod, and its lease has ended": {func(f *fixture) { time.Sleep(fakes.DefaultLease); f.ask(5); f.withoutPod["sb_1"] = true }, claims.Quarantined, []string{"sb_1"}, false, true},
		"no list":                         {func(f *fixture) { f.node.ListErr = fakes.Failing("list") }, claims.Quarantined, nil, true, false},
		"its Pod has ended":               {func(f *fixture) { f.terminated["sb_1"] = true }, claims.Quarantined, nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				f.claim("a")
				f.open()
				tc.before(f)
				asked := f.index.LastListed()
				err := f.verifier().CheckQuarantined(t.Context())
				if got := f.read("a").State; got != tc.state || !slices.Equal(f.gone, tc.gone) || (err != nil) != tc.fails {
					t.Errorf("the claim is %s, gone %v, err %v", got, f.gone, err)
				}
				if listed := !f.index.LastListed().Equal(asked) || err == nil && f.index.LastListed().Equal(time.Now()); listed != tc.lists {
					t.Errorf("listed %t, want %t", listed, tc.lists)
				}
			})
		})
	}
}

func TestCheckLeases(t *testing.T) {
	soon := func() { time.Sleep(fakes.DefaultLease - time.Second) }
	for name, tc := range map[string]struct {
		before func(*fixture)
		lists  bool
		gone   []string
		moved  bool
	}{
		"its lease runs":       {func(*fixture) {}, false, nil, false},
		"it ends soon":         {func(*fixture) { soon() }, true, nil, false},
		"it has moved":         {func(f *fixture) { soon(); f.move() }, true, nil, true},
		"it has ended":         {func(*fixture) { time.Sleep(fakes.DefaultLease) }, true, []string{"sb_1"}, false},
		"its Pod has ended":    {func(f *fixture) { time.Sleep(fakes.DefaultLease); f.terminated["sb_1"] = true }, false, nil, false},
		"it cannot be listed":  {func(f *fixture) { time.Sleep(fakes.DefaultLease); f.node.ListErr = fakes.Failing("list") }, false, nil, false},
		"sandboxd is away":     {func(f *fixture) { time.Sleep(fakes.DefaultLease); f.node.ListErr = fakes.Unreachable() }, false, nil, false},
		"the file has no room": {func(f *fixture) { soon(); f.move(); f.fs.SetFault(func(faultfs.Op) error { return errNotSure }) }, true, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			inFixture(t, func(t *testing.T, f *fixture) {
				deadline := f.claim("a").Deadline
				tc.before(f)
				f.verifier().CheckLeases(t.Context())
				if listed := f.index.LastListed().Equal(time.Now()); listed != tc.lists || !slices.Equal(f.gone, tc.gone) {
					t.Errorf("listed %t, gone %v", listed, f.gone)
				}
				if moved := !f.read("a").Deadline.Equal(deadline); moved != tc.moved {
					t.Errorf("the lease moved: %t", moved)
				}
			})
		})
	}
}

// move makes the first lease an hour longer.
func (f *fixture) move() {
	s := f.node.Sandboxes["sb_1"]
	s.Deadline = s.Deadline.Add(time.Hour)
	f.node.Sandboxes["sb_1"] = s
}

func TestWhatIsMissingWhileTheListFails(t *testing.T) {
	inFixture(t, func(t *testing.T, f *fixture) {
		c := f.claim("a")
		time.Sleep(fakes.DefaultLease)
		f.node.ListErr = fakes.Failing("list")
		for range 6 {
			f.verifier().CheckLeases(t.Context())
			time.Sleep(time.Minute)
		}
		f.node.ListErr = nil
		if gone, err := f.index.ConfirmGone(t.Context(), c); !gone || err != nil {
			t.Errorf("gone %t, %v, want no further wait", gone, err)
		}
	})
}
