// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"context"
	"errors"

	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// Cluster confirms which cluster answers.
type Cluster interface {
	// Verify returns nil only if a read that started after the call has found the cluster
	// that the claims belong to. An error that is [place.ErrOtherCluster] means that
	// another cluster answered.
	Verify(ctx context.Context) error
}

// confirm keeps a verdict that releases only if the cluster that the claims belong to
// answers. In another cluster every owner reads as gone.
func (a *Authorizer) confirm(ctx context.Context, d Decision) Decision {
	if !d.Release {
		return d
	}
	switch err := a.cluster.Verify(ctx); {
	case err == nil:
		return d
	case errors.Is(err, place.ErrOtherCluster):
		return unknown(Unverifiable, "the answer came from another cluster", err)
	default:
		return unknown(Unverifiable, "the API server's identity could not be confirmed", err)
	}
}
