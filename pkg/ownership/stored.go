// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// registrationSettles is how long a group and version has to be served from
// etcd before an answer about one of its objects can release. The API servers
// learn of a changed APIService through a watch, so for a moment one of them
// still asks the aggregated server that the APIService no longer names.
const registrationSettles = 30 * time.Second

// apiServices finds the reader of each group and version. Their number is that of
// the kinds of owners.
type apiServices struct {
	client dynamic.Interface

	mu        sync.Mutex
	byVersion map[schema.GroupVersion]*apiService
}

// of returns the reader for a group and version; nil for the core group, which
// no aggregated server can answer for.
func (a *apiServices) of(gv schema.GroupVersion) *apiService {
	if gv.Group == "" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.byVersion[gv]
	if s == nil {
		if a.byVersion == nil {
			a.byVersion = map[schema.GroupVersion]*apiService{}
		}
		s = &apiService{name: gv.Version + "." + gv.Group, client: a.client.Resource(apiServiceResource())}
		a.byVersion[gv] = s
	}
	return s
}

func apiServiceResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
}

// confirmation decides whether a Decision that releases stands.
type confirmation func(context.Context, Decision) Decision

// before is called before an owner of the group and version is read, and returns
// what is asked when its answer releases. Reading the APIService on both sides of
// the owner tells whether it was the same all the while; before the owner the one
// that was read last will do, since its version says if it has changed.
func (a *apiServices) before(ctx context.Context, gv schema.GroupVersion) confirmation {
	s := a.of(gv)
	if s == nil {
		return func(_ context.Context, d Decision) Decision { return d }
	}
	first, ok := s.seen()
	if !ok && ctx.Err() == nil {
		first, _ = s.read(ctx) // an error shows again when it matters
	}
	asked := time.Now()
	return func(ctx context.Context, d Decision) Decision { return s.stored(ctx, d, first, asked) }
}

// stored confirms a Decision that releases: what the owner's answer said is true
// of a stored object only when the API server itself gave it. before is the
// registration from before the owner was read.
func (s *apiService) stored(ctx context.Context, d Decision, before registration, asked time.Time) Decision {
	after, err := s.read(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return unknown(Unverifiable, "owner could not be verified: its API group and version is not registered", err)
	case err != nil:
		return unknown(Unreadable, "owner could not be verified: the APIService of its group and version could not be read", err)
	case after.aggregated:
		return unknown(Unverifiable, "the owner's API is served by an aggregated API server, whose answers prove nothing about stored objects", errAggregated)
	case after.version != before.version || asked.Sub(after.since) < registrationSettles:
		return unknown(Unverifiable, "owner could not be verified yet: its API was registered anew a moment ago", errNewlyRegistered)
	default:
		return d
	}
}

var (
	errAggregated      = errors.New("the APIService of the owner's group and version names a service")
	errNewlyRegistered = errors.New("the APIService of the owner's group and version has changed")
)
