// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"net/http"
	"net/http/httptest"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/config"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// Server answers the sandboxd API of one host.
type Server struct {
	config   config.Config
	host     *host.Host
	faults   *fault.Set
	requests *history.Requests
	// restart is what a fault of that kind calls.
	restart func() error
}

// New returns a Server.
func New(cfg config.Config, h *host.Host, faults *fault.Set, requests *history.Requests, restart func() error) *Server {
	return &Server{config: cfg, host: h, faults: faults, requests: requests, restart: restart}
}

// endpoint is one verb of the API.
type endpoint struct {
	name    string
	pattern string
	access  access
	serve   func(*call) (Reply, error)
}

// unrouted stands for every request that no endpoint takes.
const unrouted = "unrouted"

func endpoints() []endpoint {
	return []endpoint{
		{"claim", "POST /v1/claim", creators, (*call).claim},
		{"release", "POST /v1/sandboxes/{id}/release", holders, (*call).release},
		{"list", "GET /v1/sandboxes", operators, (*call).list},
		{"get", "GET /v1/sandboxes/{id}", operators, (*call).get},
		{"hibernate", "POST /v1/sandboxes/{id}/hibernate", holders, (*call).hibernate},
		{"wake", "POST /v1/sandboxes/{id}/wake", holders, (*call).wake},
		{"renew", "POST /v1/sandboxes/{id}/renew", holders, (*call).renew},
		{"info", "GET /v1/info", operators, (*call).info},
		{"pools", "PUT /v1/pools", operators, (*call).setPools},
		{"drain", "POST /v1/drain", operators, (*call).drain},
		{"undrain", "DELETE /v1/drain", operators, (*call).undrain},
		{"healthz", "GET /healthz", anyone, (*call).healthz},
	}
}

// Endpoints returns the names by which faults and the log of requests know the endpoints. "unrouted" is every
// request that no endpoint takes.
func Endpoints() []string {
	var names []string
	for _, e := range endpoints() {
		names = append(names, e.name)
	}
	return append(names, unrouted)
}

// Handler serves the API.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, e := range endpoints() {
		mux.HandleFunc(e.pattern, s.handle(e))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		s.handle(endpoint{name: unrouted, serve: func(*call) (Reply, error) {
			return refusal(refuse, r), nil
		}})(w, r)
	})
}

// refusal puts the mux's 404 or 405 into the API's form.
func refusal(refuse http.Handler, r *http.Request) Reply {
	rec := httptest.NewRecorder()
	refuse.ServeHTTP(rec, r)
	rep := ErrorReply(host.Errorf(rec.Code, "%s %s: %s", r.Method, r.URL.Path, http.StatusText(rec.Code)))
	rep.allow = rec.Header().Get("Allow")
	return rep
}
