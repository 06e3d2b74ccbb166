// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package diagnostics

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Check is one named part of an endpoint's answer.
type Check struct {
	// Name is one path segment.
	Name string
	// Run returns nil when the part is well, or what is the matter. It is
	// called for each request and must not block. Its text is shown to whoever
	// asks.
	Run func() error
}

// checks answers one health endpoint, as Kubernetes' own components do.
type checks struct {
	name string
	all  []Check
}

// register adds the endpoint, and below it one for each check.
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

// answer is 200, or 503 with what failed. Verbose, it lists what passed too.
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
