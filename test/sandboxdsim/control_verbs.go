// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"net/http"
	"strconv"
)

func (s *Server) controlTruth(r *http.Request) (any, error) {
	seq, err := after(r)
	q := r.URL.Query()
	f := EventFilter{Sandbox: q.Get("sandbox"), ClaimRef: q.Get("claim_ref"), Type: EventType(q.Get("type")), After: seq}
	if err != nil {
		return nil, err
	}
	return s.Truth(f), nil
}

func (s *Server) controlRequests(r *http.Request) (any, error) {
	seq, err := after(r)
	if err != nil {
		return nil, err
	}
	return s.Requests(RequestFilter{Endpoint: r.URL.Query().Get("endpoint"), After: seq}), nil
}

func (s *Server) controlAddFault(r *http.Request) (any, error) {
	var f Fault
	if err := controlBody(r, &f); err != nil {
		return nil, err
	}
	id, err := s.AddFault(f)
	return map[string]int{"id": id}, badRequest(err)
}

func (s *Server) controlClearFaults(*http.Request) (any, error) {
	s.ClearFaults()
	return nil, nil
}

func (s *Server) controlRemoveFault(r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !s.RemoveFault(id) {
		return nil, newError(http.StatusNotFound, "no fault %q is in force", r.PathValue("id"))
	}
	return nil, nil
}

func (s *Server) controlSetCapacity(r *http.Request) (any, error) {
	var c Capacity
	if err := controlBody(r, &c); err != nil {
		return nil, err
	}
	if err := s.SetCapacity(c); err != nil {
		return nil, badRequest(err)
	}
	return s.Capacity(), nil
}

func (s *Server) controlRestart(r *http.Request) (any, error) {
	var o RestartOptions
	if err := controlBody(r, &o); err != nil {
		return nil, err
	}
	return nil, badRequest(s.Restart(o))
}

func (s *Server) controlToken(r *http.Request) (any, error) {
	token, err := s.Token(r.PathValue("id"))
	return map[string]string{"token": token}, err
}

func (s *Server) controlMoveLease(r *http.Request) (any, error) {
	var l Lease
	if err := controlBody(r, &l); err != nil {
		return nil, err
	}
	if l.Deadline.IsZero() == (l.In == 0) {
		return nil, newError(http.StatusBadRequest, "set either deadline or in")
	}
	if l.Deadline.IsZero() {
		l.Deadline = s.env.cfg.Clock.Now().Add(l.In.std())
	}
	return nil, s.MoveLease(r.PathValue("id"), l.Deadline)
}
