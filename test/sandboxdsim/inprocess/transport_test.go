// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inprocess

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// send does a request with a handler.
func send(ctx context.Context, t *testing.T, handler http.HandlerFunc) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://sim/path?query", strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := New(handler).RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Status + " " + resp.Header.Get("Key") + " " + string(body), nil
}

func TestRoundTrip(t *testing.T) {
	got, err := send(t.Context(), t, func(w http.ResponseWriter, r *http.Request) {
		question, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Key", r.RequestURI)
		w.WriteHeader(http.StatusAccepted)
		if _, err := w.Write(append(question, " and answer"...)); err != nil {
			t.Error(err)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	})
	if want := "202 Accepted /path?query question and answer"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func TestADroppedConnectionIsEOF(t *testing.T) {
	_, err := send(t.Context(), t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want EOF", err)
	}
}

func TestAClientThatGivesUpGetsItsContextsError(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	gone, flushed := make(chan struct{}), make(chan error, 1)
	_, err := send(ctx, t, func(w http.ResponseWriter, _ *http.Request) {
		<-gone
		flushed <- http.NewResponseController(w).Flush()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
	close(gone)
	if err := <-flushed; err == nil {
		t.Error("the answer was delivered to a client that has gone")
	}
}

func TestAnAnswerIsEitherDeliveredOrAbandoned(t *testing.T) {
	r := newRecorder()
	if err := r.FlushError(); err != nil || r.abandon() || !r.delivered {
		t.Errorf("flushed first: %v, %+v", err, r)
	}
	r = newRecorder()
	if !r.abandon() || r.FlushError() == nil || r.delivered {
		t.Errorf("abandoned first: %+v", r)
	}
}
