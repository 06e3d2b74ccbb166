// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"slices"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

func pools(in []sandboxd.Pool) (out []*v1beta1.NodePoolApplyConfiguration, warm int64) {
	out = make([]*v1beta1.NodePoolApplyConfiguration, 0, len(in))
	in = slices.Clone(in)
	slices.SortStableFunc(in, func(a, b sandboxd.Pool) int {
		return cmp.Or(
			cmp.Compare(a.Key.Template, b.Key.Template),
			cmp.Compare(a.Key.Net, b.Key.Net),
			cmp.Compare(a.Key.Size, b.Key.Size),
		)
	})
	for _, pool := range in {
		out = append(out, v1beta1.NodePool().
			WithKey(poolKey(pool.Key)).
			WithWarm(int64(pool.Warm)).
			WithTarget(int64(pool.Target)))
		warm += int64(pool.Warm)
	}
	return out, warm
}

func poolKey(key sandboxd.Key) *v1beta1.PoolKeyApplyConfiguration {
	k := v1beta1.PoolKey().WithTemplate(key.Template)
	if key.Net != "" {
		k.WithNet(key.Net)
	}
	if key.Size != "" {
		k.WithSize(key.Size)
	}
	return k
}
