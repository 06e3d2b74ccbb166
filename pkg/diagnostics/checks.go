// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Check is one named check of an endpoint.
type Check struct {
	// Name is one path segment.
	Name string
	// Run returns nil, or why the check fails. It is called for each request and must not
	// block. Its text is shown to every client.
	Run func() error
}

// checks answers one health endpoint like Kubernetes' own components.
type checks struct {
	name string
	all  []Check
}

// register adds the endpoint, and one below it for each check.
func (c checks) register(mux *http.ServeMux) {
	mux.HandleFunc("GET /"+c.name, func(w http.ResponseWriter, r *http.Request) {
		excluded := r.URL.Query()["exclude"]
		all := slices.DeleteFunc(slices.Clone(c.all), func(one Check) bool { return slices.Contains(excluded, one.Name) })
		c.answer(w, all, r.URL.Query().Has("verbose"))
	})
	for _, one := range c.all {
		mux.HandleFunc("GET /"+c.name+"/"+one.Name, func(w http.ResponseWriter, r *http.Request) {
			c.answer(w, []Check{one}, r.URL.Query().Has("verbose"))
		})
	}
}

// answer writes 200, or 503 with the failed checks. If verbose, it lists the passed ones
// too.
func (c checks) answer(w http.ResponseWriter, all []Check, verbose bool) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-cache, private")
	var report strings.Builder
	failed := false
	for _, one := range all {
		if err := one.Run(); err != nil {
			failed = true
			fmt.Fprintf(&report, "[-]%s failed: %v\n", one.Name, err)
		} else {
			fmt.Fprintf(&report, "[+]%s ok\n", one.Name)
		}
	}
	switch {
	case failed:
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "%s%s check failed\n", &report, c.name)
	case verbose:
		fmt.Fprintf(w, "%s%s check passed\n", &report, c.name)
	default:
		fmt.Fprint(w, "ok")
	}
}
