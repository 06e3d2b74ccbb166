// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestProgress(t *testing.T) {
	start := time.Date(2026, 7, 27, 2, 15, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	refused := func(port int) error {
		return Failed("apply", apierrors.NewForbidden(corev1.Resource("nodes"), fmt.Sprint("from port ", port), errors.New("no")), "")
	}
	var p Progress
	steps := []struct {
		name    string
		err     error
		changed bool
		change  Change
		lasted  time.Duration
	}{
		{name: "a failure before anything", err: refused(1), changed: true},
		{name: "the same in other words", err: refused(2)},
		{name: "another kind", err: Failed("read", errors.New("x"), ""), changed: true},
		{name: "the first success is an end", change: Recovered, lasted: 3 * time.Second},
		{name: "a success like the one before", change: Unchanged},
		{name: "a failure anew", err: refused(3), changed: true},
		{name: "its end", change: Recovered, lasted: time.Second},
	}
	for i, step := range steps {
		if step.err != nil {
			if changed := p.Fail(at(i), step.err); changed != step.changed {
				t.Errorf("%s: changed is %t", step.name, changed)
			}
			continue
		}
		if change, lasted := p.Succeed(at(i)); change != step.change || lasted != step.lasted {
			t.Errorf("%s: change %d after %v, want %d after %v", step.name, change, lasted, step.change, step.lasted)
		}
	}
	if change, _ := new(Progress).Succeed(start); change != First {
		t.Errorf("the first try of all: change %d, want %d", change, First)
	}
}
