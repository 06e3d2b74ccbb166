// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sim/kubelet"
)

// Step is one change of the world. A and B select among the choices that exist when it
// runs.
type Step struct {
	Do   string
	A, B uint32
}

func (s Step) String() string { return fmt.Sprintf("{%q, %d, %d}", s.Do, s.A, s.B) }

// action is a kind of step.
type action struct {
	name   string
	weight int
	do     func(w *World, a, b uint32)
}

var errDisk = errors.New("no space left on device")

func pick[T any](n uint32, from ...T) T { return from[n%uint32(len(from))] }

func name(n uint32) string { return fmt.Sprintf("team-red/notebook-%d", n%5) }

func lease(n uint32) string { return pick(n, "86400", "86400", "60", "120", "600") }

// actions returns the kinds of steps of [NewHistory]. A seed selects by position, so their
// order is fixed.
func actions() []action {
	return slices.Concat(podActions(), clusterActions(), sandboxdActions(), indexActions(), hostActions())
}

func must(w *World, err error) {
	if err != nil {
		w.t.Errorf("the simulator refused a step: %v", err)
	}
}

// onKubelet acts on the running daemon's cache, if there is one.
func (w *World) onKubelet(do func(*kubelet.Kubelet)) {
	if w.daemon != nil {
		do(w.daemon.kubelet)
	}
}

// some applies do to one of the claimed sandboxes. An action that the sandbox's state
// does not allow has no effect.
func (w *World) some(n uint32, do func(id string) error) {
	var ids []string
	for _, vm := range w.Sandboxd.History(history.Filter{After: 1 << 62}).VMs {
		if vm.State != history.StateWarm {
			ids = append(ids, vm.ID)
		}
	}
	if len(ids) > 0 {
		_ = do(pick(n, ids...))
	}
}

// NewHistory draws n steps.
func NewHistory(seed uint64, n int) []Step { return draw(seed, n, actions()) }

// NewReplicaHistory draws n steps, among them those about Pods with random names.
func NewReplicaHistory(seed uint64, n int) []Step {
	return draw(seed, n, append(actions(), replicaActions()...))
}

// draw draws n steps from those kinds.
func draw(seed uint64, n int, kinds []action) []Step {
	rng := rand.New(rand.NewPCG(seed, 2))
	var deck []string
	for _, a := range kinds {
		for range a.weight {
			deck = append(deck, a.name)
		}
	}
	steps := make([]Step, n)
	for i := range steps {
		steps[i] = Step{deck[rng.IntN(len(deck))], rng.Uint32(), rng.Uint32()}
	}
	return steps
}
