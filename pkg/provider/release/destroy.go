// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Destroy asks sandboxd to destroy a sandbox whose release is authorised. gone is true if
// sandboxd has confirmed that the sandbox no longer exists. If gone is false and err is
// nil, sandboxd does not know the id at the moment; that proves nothing yet, because a
// wrong token is also answered with 404. ctx does not cancel the request.
func (q *Queue) Destroy(ctx context.Context, c claims.Claim) (gone bool, err error) {
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if why, changed := q.tries.record(c.ID, gone, err); changed {
			klog.FromContext(ctx).Info("release is not confirmed yet; it is retried until sandboxd confirms it", "key", c.Key, "claim", c.ID, "why", why)
		}
	}()
	err = q.client.Release(ctx, c.ID, c.Token)
	class := sandboxd.ClassOf(err)
	if err == nil || class != sandboxd.NotFound && class != sandboxd.Unauthorized {
		return err == nil, err
	}
	l, listErr := q.index.List(ctx)
	if listErr != nil {
		return false, listErr
	}
	if row, listed := l[c.ID]; listed {
		q.index.Forget(c.ID)
		return q.destroyByID(ctx, c, row, err)
	}
	gone, goneErr := q.index.ConfirmGoneIn(ctx, l, c)
	switch {
	case sandboxes.NotSure(goneErr):
		return false, nil
	case goneErr != nil:
		return false, goneErr
	case !gone:
		return false, err // the single read returns it, the listing does not yet
	}
	return true, nil
}

// destroyByID destroys a sandbox with the node API token, because sandboxd refused the
// sandbox's own token and still lists the sandbox. The listing must name the claim's key:
// an id that has been reused for another claim must not be destroyed.
func (q *Queue) destroyByID(ctx context.Context, c claims.Claim, row sandboxd.Sandbox, refused error) (gone bool, err error) {
	if q.releaseByID == nil || row.ClaimRef != c.Key {
		klog.FromContext(ctx).Error(refused, "sandboxd refuses the release token of a sandbox that it still lists; destroy it on the node if it does not end with its lease", "claim", c.ID)
		return false, refused
	}
	if err := q.releaseByID(ctx, c.ID); err != nil {
		return false, err
	}
	klog.FromContext(ctx).Info("released a sandbox by its id, because sandboxd refused its own token", "key", c.Key, "claim", c.ID)
	return true, nil
}

// Forget drops a claim whose sandbox is confirmed gone. A failed write is not returned:
// at worst the row is loaded at the next start, and sandboxd then answers that the
// sandbox does not exist.
func (q *Queue) Forget(ctx context.Context, c claims.Claim) {
	q.index.Forget(c.ID)
	q.rechecks.forget(c.Key)
	q.tries.forget(c.ID)
	if err := q.table.Forget(c.Key, c.ID); err != nil {
		klog.FromContext(ctx).Error(err, "a released claim is still in the claims file; it is written again later", "claim", c.ID)
	}
}
