// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxdsim

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
)

// Transport answers requests in this process, without a socket, so that a client and the server can live in
// one synctest bubble. A dropped connection is io.EOF, as over TCP. A client that gives up gets its context's
// error, and the answer counts as lost exactly when the client did not get it.
func (s *Server) Transport() http.RoundTripper { return inProcess{s.Handler()} }

type inProcess struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if err := cmp.Or(err, req.Body.Close()); err != nil {
			return nil, err
		}
	}
	in := req.Clone(req.Context())
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "in-process"
	rec := newRecorder()
	go rec.serve(t.handler, in)
	select {
	case <-rec.done:
	case <-req.Context().Done():
		if rec.abandon() {
			return nil, req.Context().Err()
		}
	}
	if !rec.delivered {
		return nil, cmp.Or(req.Context().Err(), io.EOF)
	}
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", rec.status, http.StatusText(rec.status)),
		StatusCode: rec.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        rec.header,
		Body:          io.NopCloser(bytes.NewReader(rec.body)),
		ContentLength: int64(len(rec.body)),
		Request:       req,
	}, nil
}
