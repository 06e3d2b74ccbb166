// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is a request with its path taken apart.
type request struct {
	*http.Request
	kind        kind
	namespace   string
	name        string
	subresource string
	body        []byte
}

func (r *request) key() string { return r.namespace + "/" + r.name }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.config.Inspect(r.URL.String() + "\n" + string(body))
	if s.discover(w, r) {
		return
	}
	req, ok := parse(r, body)
	if !ok {
		http.NotFound(w, r)
		return
	}
	if r.Method == http.MethodGet && req.name == "" {
		s.serveCollection(w, req)
		return
	}
	code, answer, err := s.serve(req)
	if err != nil {
		fail(w, err)
		return
	}
	write(w, code, answer)
}

// parse takes a path such as /apis/<group>/<version>/namespaces/<namespace>/
// <resource>/<name>/<subresource> apart.
func parse(r *http.Request, body []byte) (*request, bool) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	var gv schema.GroupVersion
	switch {
	case len(parts) > 2 && parts[0] == "api":
		gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return nil, false
	}
	req := &request{Request: r, body: body}
	if len(parts) > 2 && parts[0] == Namespaces {
		req.namespace, parts = parts[1], parts[2:]
	}
	for i, into := range []*string{nil, &req.name, &req.subresource} {
		if into != nil && i < len(parts) {
			*into = parts[i]
		}
	}
	var ok bool
	req.kind, ok = findKind(gv, parts[0])
	return req, ok && len(parts) <= 3 && (req.subresource == "" || req.subresource == "status")
}

func (s *Server) serve(r *request) (int, any, error) {
	switch {
	case r.Method == http.MethodPost && r.name == "":
		o, err := s.create(r)
		return http.StatusCreated, o, err
	case r.Method == http.MethodGet:
		o, err := s.get(r)
		return http.StatusOK, o, err
	case r.Method == http.MethodPut && r.subresource == "":
		o, err := s.update(r)
		return http.StatusOK, o, err
	case r.Method == http.MethodPatch:
		o, err := s.patch(r)
		return http.StatusOK, o, err
	case r.Method == http.MethodDelete && r.kind.resource == Pods:
		o, err := s.deletePod(r)
		return http.StatusOK, o, err
	}
	return 0, nil, apierrors.NewMethodNotSupported(r.kind.groupResource(), r.Method)
}

func write(w http.ResponseWriter, code int, answer any) {
	raw, err := json.Marshal(answer)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(raw) // a client that was killed does not read it
}

func fail(w http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		status = apierrors.NewBadRequest(fmt.Sprint(err))
	}
	answer := status.Status()
	answer.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	write(w, int(answer.Code), answer)
}

func groupResource(resource string) schema.GroupResource {
	return findResource(resource).groupResource()
}
