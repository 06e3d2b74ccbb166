// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Rebuild is the time after a start in which the index is not complete yet. The zero value: none.
type Rebuild struct {
	// For is how long it takes.
	For metav1.Duration `json:"for,omitzero"`
	// Index says what listing and single reads answer meanwhile.
	Index Index `json:"index,omitempty"`
}

// Index is what an index that is being rebuilt answers.
type Index string

const (
	// IndexUnavailable answers 503.
	IndexUnavailable Index = "unavailable"
	// IndexPartial leaves out the older half of the rows.
	IndexPartial Index = "partial"
	// IndexEmpty has no row.
	IndexEmpty Index = "empty"
)

// Validate returns what is wrong with a Rebuild that is not zero.
func (r Rebuild) Validate() error {
	if r == (Rebuild{}) {
		return nil
	}
	if r.For.Duration <= 0 {
		return errors.New("rebuild: set how long it takes")
	}
	_, err := r.fault("list")
	return err
}

// fault is the fault that stands for the rebuilding at one endpoint.
func (r Rebuild) fault(endpoint string) (Fault, error) {
	f := Fault{Endpoint: endpoint, For: r.For}
	switch r.Index {
	case IndexUnavailable:
		f.Action, f.Status, f.Message = ActionStatus, http.StatusServiceUnavailable, "the index is being rebuilt"
	case IndexPartial:
		f.Action, f.Fraction = ActionOmit, 0.5
	case IndexEmpty:
		f.Action = ActionEmpty
	default:
		return Fault{}, fmt.Errorf("unknown index %q: use %s, %s or %s", r.Index, IndexUnavailable, IndexPartial, IndexEmpty)
	}
	return f, nil
}

// Rebuild puts the faults of a rebuilding in force, in place of those of an earlier one: each start rebuilds
// its own index.
func (s *Set) Rebuild(r Rebuild) error {
	var next []*activeFault
	if r.For.Duration > 0 {
		for _, endpoint := range []string{"list", "get"} {
			f, err := r.fault(endpoint)
			if err != nil {
				return err
			}
			a, err := s.prepare(f)
			if err != nil {
				return err
			}
			a.rebuilding = true
			next = append(next, a)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = slices.DeleteFunc(s.active, func(a *activeFault) bool { return a.rebuilding })
	for _, a := range next {
		s.add(a)
	}
	return nil
}
