// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rediscoverEvery is the minimum time between two discoveries caused by owners that
// cannot be verified: a node may hold many claims of one such owner.
const rediscoverEvery = 5 * time.Minute

// resources finds the resource of a kind.
type resources struct {
	mapper meta.RESTMapper

	mu   sync.Mutex
	last time.Time
}

// find asks discovery for the kind: at the version in the reference, else at a served
// version. If discovery does not answer, the English plural is used. A wrong guess is
// safe, because its 404 names no object.
func (r *resources) find(ctx context.Context, gvk schema.GroupVersionKind) (gvr schema.GroupVersionResource, namespaced bool) {
	mapper := meta.ToRESTMapperWithContext(r.mapper)
	mapping, err := mapper.RESTMappingWithContext(ctx, gvk.GroupKind(), gvk.Version)
	if err != nil {
		mapping, err = mapper.RESTMappingWithContext(ctx, gvk.GroupKind())
	}
	if err != nil {
		return gvk.GroupVersion().WithResource(plural(strings.ToLower(gvk.Kind))), true
	}
	return mapping.Resource, mapping.Scope.Name() == meta.RESTScopeNameNamespace
}

// plural is the English plural of a kind in lower case, formed like the generators of
// resource definitions do.
func plural(kind string) string {
	for _, hiss := range []string{"s", "x", "z", "ch", "sh"} {
		if strings.HasSuffix(kind, hiss) {
			return kind + "es"
		}
	}
	stem, isY := strings.CutSuffix(kind, "y")
	if isY && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return kind + "s"
}

// rediscover resets the mapper, whose cached version may have been retired, and reports
// whether it did.
func (r *resources) rediscover() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); r.last.IsZero() || now.Sub(r.last) >= rediscoverEvery {
		r.last = now
		meta.MaybeResetRESTMapper(r.mapper)
		return true
	}
	return false
}
