// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxBody is the cap on a request body.
const maxBody = 1 << 20

// call is one request on its way through the daemon that took it.
type call struct {
	server   *Server
	daemon   *daemon
	endpoint endpoint
	request  *http.Request
	start    time.Time
	body     []byte
	bodyErr  error
	by       Actor

	rejectToken        bool
	rejectSandboxToken bool
	omissions          []Fault
}

func (s *Server) handle(e endpoint) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &call{server: s, daemon: s.current(), endpoint: e, request: r, start: s.env.cfg.Clock.Now()}
		// The body is read first, because only then does net/http notice a client that leaves.
		c.body, c.bodyErr = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		rep, err := c.process()
		c.answer(w, rep, err)
	}
}

// process returns the reply, or errDropped when there is none.
func (c *call) process() (reply, error) {
	if err := c.daemon.do(func() error { return nil }); err != nil {
		return reply{}, err
	}
	rep, settled, err := c.inject(PointRequest, reply{})
	if settled {
		return rep, err
	}
	if rep, err = c.execute(); err != nil {
		if errors.Is(err, errDropped) {
			return reply{}, err
		}
		rep = errorReply(err)
	}
	rep, _, err = c.inject(PointResponse, rep)
	return rep, err
}

func (c *call) execute() (rep reply, err error) {
	if c.by, err = c.authorize(); err != nil {
		return reply{}, err
	}
	return c.endpoint.serve(c)
}

// answer writes the reply unless the daemon was stopped meanwhile.
func (c *call) answer(w http.ResponseWriter, rep reply, err error) {
	if err == nil {
		err = c.daemon.do(func() error { return nil })
	}
	c.log(rep, err)
	write := func() error {
		if err != nil {
			return err
		}
		return rep.write(w, c.request)
	}
	if rep.claimed.ID != "" {
		err = c.daemon.settle(rep, write)
	} else {
		err = write()
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (c *call) log(rep reply, err error) {
	if err != nil {
		rep.status = 0
	}
	c.server.requests.add(Request{
		Time: c.start, Endpoint: c.endpoint.name, Method: c.request.Method,
		Path: c.request.URL.RequestURI(), By: c.by, Status: rep.status,
		Took: Duration(c.server.env.cfg.Clock.Since(c.start)),
	})
}

// decode reads the body as JSON. Fields it does not know are ignored; an empty body is an empty object.
func (c *call) decode(into any) error {
	if c.bodyErr != nil {
		return newError(http.StatusBadRequest, "read the body (at most 1 MiB): %v", c.bodyErr)
	}
	if len(c.body) == 0 {
		return nil
	}
	if err := json.Unmarshal(c.body, into); err != nil {
		return newError(http.StatusBadRequest, "the body is not what this endpoint takes: %v", err)
	}
	return nil
}
