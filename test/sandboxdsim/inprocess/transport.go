// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inprocess carries HTTP requests to a handler in the same process, without a socket, so that a client and a
// server can live in one testing/synctest bubble.
package inprocess

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
)

// New returns a RoundTripper that answers requests with a handler. A dropped connection is io.EOF, as over TCP. A
// client that gives up gets its context's error, and the handler's flush fails exactly when the client did not
// get the answer.
func New(handler http.Handler) http.RoundTripper { return transport{handler} }

type transport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
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
