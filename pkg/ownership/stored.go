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

// registrationGrace is how long a group and version must have been served from etcd
// before an answer about one of its objects can release. API servers learn of a changed
// APIService through a watch, so for a moment one of them may still proxy to the
// aggregated server that was removed.
const registrationGrace = 30 * time.Second

// apiServices has the reader of each group and version. It grows with the number of owner
// kinds only.
type apiServices struct {
	client dynamic.Interface

	mu        sync.Mutex
	byVersion map[schema.GroupVersion]*apiService
}

// of returns the reader for a group and version; nil for the core group, which cannot be
// aggregated.
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

// before is called before an owner of the group and version is read. It returns the
// confirmation to call if the owner's answer releases. Reading the APIService before and
// after the owner shows whether it changed in between. For the first of these, the last
// known registration suffices, because its version shows a change.
func (a *apiServices) before(ctx context.Context, gv schema.GroupVersion) confirmation {
	s := a.of(gv)
	if s == nil {
		return func(_ context.Context, d Decision) Decision { return d }
	}
	first, ok := s.seen()
	if !ok && ctx.Err() == nil {
		first, _ = s.read(ctx) // the read after the owner reports a lasting error
	}
	asked := time.Now()
	return func(ctx context.Context, d Decision) Decision { return s.stored(ctx, d, first, asked) }
}

// stored confirms a Decision that releases: the owner's answer proves something about a
// stored object only if the API server itself gave it. before is the registration from
// before the owner was read.
func (s *apiService) stored(ctx context.Context, d Decision, before registration, asked time.Time) Decision {
	after, err := s.read(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return unknown(Unverifiable, "owner could not be verified: its API group and version is not registered", err)
	case err != nil:
		return unknown(Unreadable, "owner could not be verified: the APIService of its group and version could not be read", err)
	case after.aggregated:
		return unknown(Unverifiable, "the owner's API is served by an aggregated API server, whose answers prove nothing about stored objects", errAggregated)
	case after.version != before.version || asked.Sub(after.since) < registrationGrace:
		return unknown(Unverifiable, "owner could not be verified yet: its API was registered anew a moment ago", errNewlyRegistered)
	default:
		return d
	}
}

var (
	errAggregated      = errors.New("the APIService of the owner's group and version names a service")
	errNewlyRegistered = errors.New("the APIService of the owner's group and version has changed")
)
