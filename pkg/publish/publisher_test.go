// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	interval = 10 * time.Second
	deadline = 3 * time.Second
)

// source collects one number, which is written when it is not the one written last
// or the owner is another. It waits for an interval after each cycle.
type source struct {
	number     int
	collectErr error
	applyErr   error
	hang       bool // until the cycle's deadline
	// steps change the source, one at the beginning of each cycle.
	steps []func()

	written []int
	owner   types.UID
	cycles  []Cycle
}

func (s *source) Collect(ctx context.Context) (int, error) {
	if len(s.steps) > 0 {
		s.steps[0]()
		s.steps = s.steps[1:]
	}
	if s.hang {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	return s.number, s.collectErr
}

func (s *source) Changed(number int, owner types.UID) bool {
	last := len(s.written) - 1
	return last < 0 || s.written[last] != number || owner != "" && s.owner != owner
}

func (s *source) Apply(_ context.Context, number int, node *corev1.Node) (Publication, error) {
	if s.applyErr != nil {
		return Publication{}, s.applyErr
	}
	s.written, s.owner = append(s.written, number), *Owner(node).UID
	return Publication{Items: number, Total: number}, nil
}

func (s *source) Wait(ctx context.Context, last Cycle) {
	s.cycles = append(s.cycles, last)
	Sleep(ctx, interval)
}

// publisher returns a publisher of the source. The Node is what node points to.
func publisher(s *source, node *corev1.Node, nodeErr *error, observe func(error)) *Publisher[int] {
	return &Publisher[int]{
		Config: Config{
			NodeName: "host-1-sandboxd", Interval: interval, Observe: observe,
			Node: func() (*corev1.Node, error) { return node, *nodeErr },
		},
		Kind: testKind(), Source: s, Deadline: deadline,
	}
}

func nodeOf(uid types.UID) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "host-1-sandboxd", UID: uid}}
}

func TestPublish(t *testing.T) {
	away, notRegistered := errors.New("no watch"), apierrors.NewNotFound(corev1.Resource("nodes"), "host-1-sandboxd")
	tests := []struct {
		name    string
		source  source
		nodeErr error
		want    *Publication
		failure string
	}{
		{"new", source{number: 2}, nil, &Publication{Items: 2, Total: 2}, ""},
		{"changed", source{number: 2, written: []int{1}, owner: "a"}, nil, &Publication{Items: 2, Total: 2}, ""},
		{"unchanged", source{number: 2, written: []int{2}, owner: "a"}, nil, nil, ""},
		{"unchanged, of another Node", source{number: 2, written: []int{2}, owner: "b"}, nil, &Publication{Items: 2, Total: 2}, ""},
		{"unchanged, while the Node cannot be read", source{number: 2, written: []int{2}, owner: "a"}, away, nil, ""},
		{"changed, while the Node cannot be read", source{number: 2}, away, nil, "look up the Node: no watch"},
		{"before the Node is registered", source{number: 2}, notRegistered, nil,
			`look up the Node: nodes "host-1-sandboxd" not found (the virtual node is not registered yet; the next cycle looks again)`},
		{"nothing collected", source{collectErr: errors.New("no answer")}, nil, nil, "no answer"},
		{"not applied", source{number: 2, applyErr: errors.New("no API server")}, nil, nil, "no API server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(tt.source.written)
			got, err := publisher(&tt.source, nodeOf("a"), &tt.nodeErr, nil).Publish(t.Context())
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("published (-want +got):\n%s", diff)
			}
			if tt.failure == "" && err != nil || tt.failure != "" && (err == nil || err.Error() != tt.failure) {
				t.Errorf("error %v, want %q", err, tt.failure)
			}
			if wrote := len(tt.source.written) > before; wrote != (tt.want != nil) {
				t.Errorf("written %v", tt.source.written)
			}
		})
	}
}

// A cycle is bounded, observed, and reported to the source; a failed one ends
// nothing.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var nodeErr error
		var observed []error
		s := &source{number: 1}
		p := publisher(s, nodeOf("a"), &nodeErr, func(err error) { observed = append(observed, err) })
		ctx, cancel := context.WithCancel(t.Context())
		s.steps = []func(){
			func() {},
			func() {}, // nothing changes
			func() { s.number, nodeErr = 2, errors.New("no watch") },
			func() { nodeErr = nil },
			func() { s.hang = true },
			cancel,
		}
		if err := p.Run(ctx); err != nil {
			t.Errorf("Run returned %v, want nil", err)
		}

		type outcome struct{ Wrote, Failed bool }
		var got []outcome
		for i, c := range s.cycles {
			got = append(got, outcome{c.Wrote, c.Err != nil})
			if i > 0 && c.Began.Sub(s.cycles[i-1].Began) < interval {
				t.Errorf("cycle %d began %v after the one before", i, c.Began.Sub(s.cycles[i-1].Began))
			}
		}
		// The last one was cut short.
		if diff := cmp.Diff([]outcome{{true, false}, {}, {false, true}, {true, false}, {false, true}, {}}, got); diff != "" {
			t.Errorf("cycles (-want +got):\n%s", diff)
		}
		if len(observed) != 5 || !errors.Is(observed[4], context.DeadlineExceeded) {
			t.Errorf("observed %v, want the five cycles that ended, the last at its deadline", observed)
		}
		if diff := cmp.Diff([]int{1, 2}, s.written); diff != "" {
			t.Errorf("written (-want +got):\n%s", diff)
		}
	})
}

func TestTheFirstCycleRunsSoon(t *testing.T) {
	starts := map[time.Duration]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var nodeErr error
			ctx, cancel := context.WithTimeout(t.Context(), StartSpread)
			defer cancel()
			s, began := &source{number: 1}, time.Now()
			if err := publisher(s, nodeOf("a"), &nodeErr, nil).Run(ctx); err != nil {
				t.Error(err)
			}
			if len(s.cycles) != 1 {
				t.Fatalf("%d cycles in the first %v", len(s.cycles), StartSpread)
			}
			starts[s.cycles[0].Began.Sub(began)] = true
		})
	}
	if len(starts) < 2 {
		t.Error("every publisher starts after the same delay")
	}
}

func TestJittered(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 100 {
		d := Jittered(interval)
		if seen[d] = true; d < interval || d > interval*11/10 {
			t.Errorf("%v became %v", interval, d)
		}
	}
	if len(seen) < 2 {
		t.Error("no jitter: every interval is the same")
	}
}
