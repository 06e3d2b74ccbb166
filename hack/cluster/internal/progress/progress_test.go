// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepReportsWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := &Reporter{out: &out, tick: logTick, start: time.Now()}
		r.Expect(2)
		if err := r.Step(t.Context(), "build it", func(context.Context) error {
			time.Sleep(25 * time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		want := "[ 1/2] build it ... 10s (total 10s)\n[ 1/2] build it ... 20s (total 20s)\n[ 1/2] build it: done in 25s (total 25s)\n"
		if out.String() != want {
			t.Errorf("printed\n%swant\n%s", out.String(), want)
		}
		failure := errors.New("no space")
		if err := r.Step(t.Context(), "start it", func(context.Context) error { return failure }); !errors.Is(err, failure) {
			t.Errorf("error %v", err)
		}
		if !strings.HasSuffix(out.String(), "[ 2/2] start it: FAILED in 0s (total 25s)\n") {
			t.Errorf("printed\n%s", out.String())
		}
	})
}

func TestStepsEndWithTheFirstThatFails(t *testing.T) {
	broken := errors.New("broken")
	var ran []string
	step := func(name string, err error) Step {
		return Step{Title: name, Do: func(context.Context) error {
			ran = append(ran, name)
			return err
		}}
	}
	r := &Reporter{out: &bytes.Buffer{}, tick: logTick, start: time.Now()}
	err := r.Steps(t.Context(), step("one", nil), step("two", broken), step("three", nil))
	if !errors.Is(err, broken) || !slices.Equal(ran, []string{"one", "two"}) {
		t.Errorf("steps %v, error %v", ran, err)
	}
}
