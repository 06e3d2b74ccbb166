// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/api"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// Lease is where the control API moves a deadline to: a time, or a span from now.
type Lease struct {
	Deadline time.Time       `json:"deadline,omitzero"`
	In       metav1.Duration `json:"in,omitzero"`
}

// verb serves one verb of the control API; a nil answer is 204.
type verb func(*http.Request) (any, error)

// maxBody is the cap on a request body.
const maxBody = 1 << 20

// server is a simulator with its control API.
type server struct{ *sandboxdsim.Server }

// Handler serves the control API of a simulator, which asks for no token: keep it where only tests can reach it.
func Handler(sim *sandboxdsim.Server) http.Handler {
	s := server{sim}
	mux := http.NewServeMux()
	for pattern, serve := range map[string]verb{
		"GET /history":                   s.history,
		"GET /requests":                  s.requests,
		"GET /faults":                    func(*http.Request) (any, error) { return s.Faults.List(), nil },
		"POST /faults":                   s.addFault,
		"DELETE /faults":                 s.clearFaults,
		"DELETE /faults/{id}":            s.removeFault,
		"GET /capacity":                  func(*http.Request) (any, error) { return s.Capacity(), nil },
		"POST /capacity":                 s.setCapacity,
		"PUT /pools":                     s.setPools,
		"POST /restart":                  s.restart,
		"GET /sandboxes/{id}/token":      s.token,
		"POST /sandboxes/{id}/hibernate": forced(s.Hibernate),
		"POST /sandboxes/{id}/archive":   forced(s.Archive),
		"POST /sandboxes/{id}/wake":      forced(s.Wake),
		"POST /sandboxes/{id}/expire":    forced(s.Expire),
		"POST /sandboxes/{id}/lose":      forced(s.Lose),
		"POST /sandboxes/{id}/lease":     s.moveLease,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			body, err := serve(r)
			if err := answer(body, err).Write(w, r); err != nil {
				klog.FromContext(r.Context()).V(2).Info("A control client left before its answer", "path", r.URL.Path, "err", err)
			}
		})
	}
	return mux
}

func answer(body any, err error) api.Reply {
	if err == nil && body == nil {
		return api.Reply{Status: http.StatusNoContent}
	}
	var rep api.Reply
	if err == nil {
		rep, err = api.OK(body)
	}
	if errors.Is(err, host.ErrDropped) {
		err = host.Errorf(http.StatusServiceUnavailable, "the daemon is down: wait until its restart is over")
	}
	if err != nil {
		return api.ErrorReply(err)
	}
	return rep
}

func forced(do func(id string) error) verb {
	return func(r *http.Request) (any, error) { return nil, do(r.PathValue("id")) }
}

// decode reads a body strictly, so that a misspelt field does not go unnoticed.
func decode(r *http.Request, into any) error {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err == nil && len(b) > 0 {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		err = dec.Decode(into)
	}
	return badRequest(err)
}

func badRequest(err error) error {
	if err == nil || errors.Is(err, host.ErrDropped) {
		return err
	}
	return host.Errorf(http.StatusBadRequest, "%v", err)
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
