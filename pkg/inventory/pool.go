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
	for _, p := range in {
		out = append(out, pool(p))
		warm += int64(p.Warm)
	}
	return out, warm
}

func pool(in sandboxd.Pool) *v1beta1.NodePoolApplyConfiguration {
	p := v1beta1.NodePool().
		WithTemplate(in.Key.Template).
		WithWarm(int64(in.Warm)).
		WithTarget(int64(in.Target))
	if in.Key.Net != "" {
		p.WithNet(in.Key.Net)
	}
	if in.Key.Size != "" {
		p.WithSize(in.Key.Size)
	}
	return p
}
