// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Lease is where the control API moves a deadline to: a time, or a span from now.
type Lease struct {
	Deadline time.Time `json:"deadline,omitzero"`
	In       Duration  `json:"in,omitempty"`
}

// controlVerb serves one verb of the control API; a nil answer is 204.
type controlVerb func(*http.Request) (any, error)

// ControlHandler serves the control API, which asks for no token: keep it where only tests can reach it.
func (s *Server) ControlHandler() http.Handler {
	mux := http.NewServeMux()
	for pattern, serve := range map[string]controlVerb{
		"GET /truth":                     s.controlTruth,
		"GET /requests":                  s.controlRequests,
		"GET /faults":                    func(*http.Request) (any, error) { return s.Faults(), nil },
		"POST /faults":                   s.controlAddFault,
		"DELETE /faults":                 s.controlClearFaults,
		"DELETE /faults/{id}":            s.controlRemoveFault,
		"GET /capacity":                  func(*http.Request) (any, error) { return s.Capacity(), nil },
		"POST /capacity":                 s.controlSetCapacity,
		"POST /restart":                  s.controlRestart,
		"GET /sandboxes/{id}/token":      s.controlToken,
		"POST /sandboxes/{id}/hibernate": forced(s.Hibernate),
		"POST /sandboxes/{id}/archive":   forced(s.Archive),
		"POST /sandboxes/{id}/wake":      forced(s.Wake),
		"POST /sandboxes/{id}/expire":    forced(s.Expire),
		"POST /sandboxes/{id}/lose":      forced(s.Lose),
		"POST /sandboxes/{id}/lease":     s.controlMoveLease,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := serve(r)
			if err := controlReply(body, err).write(w, r); err != nil {
				s.env.cfg.Logger.V(2).Info("A control client left before its answer", "path", r.URL.Path, "err", err)
			}
		})
	}
	return mux
}

func controlReply(body any, err error) reply {
	if err == nil && body == nil {
		return reply{status: http.StatusNoContent}
	}
	var rep reply
	if err == nil {
		rep, err = ok(body)
	}
	if errors.Is(err, errDropped) {
		err = newError(http.StatusServiceUnavailable, "the daemon is down: wait until its restart is over")
	}
	if err != nil {
		return errorReply(err)
	}
	return rep
}

func forced(do func(id string) error) controlVerb {
	return func(r *http.Request) (any, error) { return nil, do(r.PathValue("id")) }
}

// controlBody reads a body strictly, so that a misspelt field does not go unnoticed.
func controlBody(r *http.Request, into any) error {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err == nil && len(b) > 0 {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	return badRequest(err)
}

func badRequest(err error) error {
	if err == nil || errors.Is(err, errDropped) {
		return err
	}
	return newError(http.StatusBadRequest, "%v", err)
}

// after reads the query parameter of that name; absent is 0.
func after(r *http.Request) (int64, error) {
	text := r.URL.Query().Get("after")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, badRequest(err)
}
