// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/fault"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/history"
	"github.com/cocoonstack/vk-sandbox/test/sandboxdsim/host"
)

// maxBody is the cap on a request body.
const maxBody = 1 << 20

// call is one request on its way through the daemon that took it.
type call struct {
	server   *Server
	daemon   *host.Daemon
	endpoint endpoint
	request  *http.Request
	start    time.Time
	body     []byte
	bodyErr  error
	by       history.Actor

	rejectToken        bool
	rejectSandboxToken bool
	omissions          []fault.Fault
}

func (s *Server) handle(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{server: s, daemon: s.host.Daemon(), endpoint: e, request: r, start: s.config.Clock.Now()}
		// The body is read first, because only then does net/http notice a client that leaves.
		c.body, c.bodyErr = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		rep, err := c.process()
		c.answer(w, rep, err)
	}
}

// process returns the reply, or host.ErrDropped when there is none.
func (c *call) process() (Reply, error) {
	if err := c.daemon.Serving(); err != nil {
		return Reply{}, err
	}
	rep, settled, err := c.inject(fault.PointRequest, Reply{})
	if settled {
		return rep, err
	}
	if rep, err = c.execute(); err != nil {
		if errors.Is(err, host.ErrDropped) {
			return Reply{}, err
		}
		rep = ErrorReply(err)
	}
	rep, _, err = c.inject(fault.PointResponse, rep)
	return rep, err
}

func (c *call) execute() (rep Reply, err error) {
	if c.by, err = c.authorize(); err != nil {
		return Reply{}, err
	}
	return c.endpoint.serve(c)
}

// answer writes the reply unless the daemon was stopped meanwhile.
func (c *call) answer(w http.ResponseWriter, rep Reply, err error) {
	if err == nil {
		err = c.daemon.Serving()
	}
	c.log(rep, err)
	write := func() (delivered bool, _ error) {
		if err != nil {
			return false, err
		}
		err := rep.Write(w, c.request)
		return err == nil && rep.Status == http.StatusOK && !rep.truncated, err
	}
	if rep.claimed.ID != "" {
		err = c.daemon.Answer(rep.claimed, write)
	} else {
		_, err = write()
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (c *call) log(rep Reply, err error) {
	if err != nil {
		rep.Status = 0
	}
	c.server.requests.Add(history.Request{
		Time: c.start, Endpoint: c.endpoint.name, Method: c.request.Method,
		Path: c.request.URL.RequestURI(), By: c.by, Status: rep.Status,
		Took: metav1.Duration{Duration: c.server.config.Clock.Since(c.start)},
	})
}

// decode reads the body as JSON. Fields it does not know are ignored; an empty body is an empty object.
func (c *call) decode(into any) error {
	if c.bodyErr != nil {
		return host.Errorf(http.StatusBadRequest, "read the body (at most 1 MiB): %v", c.bodyErr)
	}
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return host.Errorf(http.StatusBadRequest, "the body is not what this endpoint takes: %v", err)
	}
	return nil
}
