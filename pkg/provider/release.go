// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// destroy asks sandboxd to destroy a sandbox whose release is authorised.
// gone is true when the node has confirmed that it no longer exists. Neither
// gone nor an error means that the node does not know the id just now, which
// is not sure yet: a 404 is also the answer to a wrong token.
func (p *Provider) destroy(ctx context.Context, c claims.Claim) (gone bool, err error) {
	ctx = context.WithoutCancel(ctx)
	defer func() {
		if why, changed := p.unreleased.note(c.ID, gone, err); changed {
			klog.FromContext(ctx).Info("release is not confirmed yet; it is tried again until it is", "key", c.Key, "claim", c.ID, "why", why)
		}
	}()
	err = p.sandboxd.Release(ctx, c.ID, c.Token)
	class := sandboxd.ClassOf(err)
	if err == nil || class != sandboxd.NotFound && class != sandboxd.Unauthorized {
		return err == nil, err
	}
	l, listErr := p.list(ctx)
	if listErr != nil {
		return false, listErr
	}
	if row, listed := l[c.ID]; listed {
		p.absences.forget(c.ID)
		return p.destroyByID(ctx, c, row, err)
	}
	gone, goneErr := p.confirmGoneIn(ctx, l, c)
	switch {
	case notSure(goneErr):
		return false, nil
	case goneErr != nil:
		return false, goneErr
	case !gone:
		return false, err // the single read knows it, the listing does not yet
	}
	return true, nil
}

// destroyByID destroys a sandbox with the node API token, because sandboxd refused
// the sandbox's own and lists it all the same. The listing has to name the claim's
// key: an id that was given to another claim since is not ours to destroy.
func (p *Provider) destroyByID(ctx context.Context, c claims.Claim, row sandboxd.Sandbox, refused error) (gone bool, err error) {
	if p.releaseByID == nil || row.ClaimRef != c.Key {
		klog.FromContext(ctx).Error(refused, "sandboxd refuses the release token of a sandbox that it still lists; destroy it on the node if it does not end with its lease", "claim", c.ID)
		return false, refused
	}
	if err := p.releaseByID(ctx, c.ID); err != nil {
		return false, err
	}
	klog.FromContext(ctx).Info("released a sandbox by its id, because sandboxd refused its own token", "key", c.Key, "claim", c.ID)
	return true, nil
}

// forget drops a claim that the node has confirmed gone. A write that fails is
// no error for the caller: the row comes back at the next start at worst, and
// converges on the node's 404.
func (p *Provider) forget(ctx context.Context, c claims.Claim) {
	p.absences.forget(c.ID)
	p.rechecks.forget(c.Key)
	p.unreleased.forget(c.ID)
	if err := p.table.Forget(c.Key, c.ID); err != nil {
		klog.FromContext(ctx).Error(err, "a released claim is still in the claims file; it is written again later", "claim", c.ID)
	}
}

// withdraw hands a claim whose release is authorised to the release queue. A
// write that fails is no error for the caller: the file still has the row, and
// with it the credential, under its key, and the verdict is reached again
// after a restart.
func (p *Provider) withdraw(ctx context.Context, c claims.Claim) {
	if err := p.table.EnqueueRelease(c.Key, c.ID); err != nil {
		klog.FromContext(ctx).Error(err, "a withdrawn claim is not in the claims file as such yet; it is written again later", "claim", c.ID)
	}
	p.rechecks.forget(c.Key)
	p.wakeReleases()
}
