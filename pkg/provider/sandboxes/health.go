// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"context"
	"sync"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Reach is whether sandboxd answers and accepts this node's credential.
type Reach struct {
	// Known is false until the first answer or failure.
	Known bool
	// Err is the failed call; nil when sandboxd answered.
	Err error
}

// InfoClient is what Health asks of sandboxd. The answer requires a valid credential.
type InfoClient interface {
	Info(context.Context) (sandboxd.Info, error)
}

// Health checks whether sandboxd can be used. It is safe for concurrent use.
type Health struct {
	client InfoClient

	mu    sync.Mutex
	reach Reach
}

// NewHealth returns a Health that has not asked yet.
func NewHealth(client InfoClient) *Health { return &Health{client: client} }

// Reach returns the result of the last check. It never blocks.
func (h *Health) Reach() Reach {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reach
}

// Check asks sandboxd for its info, and logs when the result changes.
func (h *Health) Check(ctx context.Context) {
	_, err := h.client.Info(ctx)
	if ctx.Err() != nil {
		return
	}
	h.mu.Lock()
	last := h.reach
	h.reach = Reach{Known: true, Err: err}
	h.mu.Unlock()
	switch {
	case err != nil && (!last.Known || last.Err == nil || last.Err.Error() != err.Error()):
		klog.FromContext(ctx).Error(err, "sandboxd cannot be used; claims and releases wait for it")
	case err == nil && last.Err != nil:
		klog.FromContext(ctx).Info("sandboxd can be used again")
	}
}
