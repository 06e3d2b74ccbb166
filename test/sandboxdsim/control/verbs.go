// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"net/http"
	"strconv"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

func (s server) history(r *http.Request) (any, error) {
	seq, err := after(r)
	q := r.URL.Query()
	f := history.Filter{Sandbox: q.Get("sandbox"), ClaimRef: q.Get("claim_ref"), Type: history.EventType(q.Get("type")), After: seq}
	if err != nil {
		return nil, err
	}
	return s.History(f), nil
}

func (s server) requests(r *http.Request) (any, error) {
	seq, err := after(r)
	if err != nil {
		return nil, err
	}
	return s.Requests.List(history.RequestFilter{Endpoint: r.URL.Query().Get("endpoint"), After: seq}), nil
}

func (s server) addFault(r *http.Request) (any, error) {
	var f fault.Fault
	if err := decode(r, &f); err != nil {
		return nil, err
	}
	id, err := s.Faults.Add(f)
	return map[string]int{"id": id}, badRequest(err)
}

func (s server) clearFaults(*http.Request) (any, error) {
	s.Faults.Clear()
	return nil, nil
}

func (s server) removeFault(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !s.Faults.Remove(id) {
		return nil, host.Errorf(http.StatusNotFound, "no fault %q is in force", r.PathValue("id"))
	}
	return nil, nil
}

func (s server) setCapacity(r *http.Request) (any, error) {
	var c host.Capacity
	if err := decode(r, &c); err != nil {
		return nil, err
	}
	if err := s.SetCapacity(c); err != nil {
		return nil, badRequest(err)
	}
	return s.Capacity(), nil
}

func (s server) setPools(r *http.Request) (any, error) {
	var set []config.Pool
	if err := decode(r, &set); err != nil {
		return nil, err
	}
	return nil, s.SetPools(set)
}

func (s server) restart(r *http.Request) (any, error) {
	var o sandboxdsim.RestartOptions
	if err := decode(r, &o); err != nil {
		return nil, err
	}
	return nil, badRequest(s.Restart(o))
}

func (s server) token(r *http.Request) (any, error) {
	token, err := s.Token(r.PathValue("id"))
	return map[string]string{"token": token}, err
}

func (s server) moveLease(r *http.Request) (any, error) {
	var l Lease
	if err := decode(r, &l); err != nil {
		return nil, err
	}
	if l.Deadline.IsZero() == (l.In.Duration == 0) {
		return nil, host.Errorf(http.StatusBadRequest, "set either deadline or in")
	}
	if l.Deadline.IsZero() {
		l.Deadline = s.Now().Add(l.In.Duration)
	}
	return nil, s.MoveLease(r.PathValue("id"), l.Deadline)
}
