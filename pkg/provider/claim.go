// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// claim takes a new sandbox for the Pod and makes it durable, in place of the
// claim displaced, which then goes to the release queue. A claim that cannot
// be made durable is given back.
func (p *Provider) claim(ctx context.Context, pod *corev1.Pod, displaced *claims.Claim) error {
	req, err := podcontract.ClaimRequest(pod)
	if err != nil {
		return err
	}
	if err := p.capacity.check(time.Now()); err != nil {
		return err
	}
	// While the disk fails, a claim could only be given back.
	if err := p.table.Flush(); err != nil {
		return notDurable(err)
	}
	// A claim is not abandoned half-way when the daemon stops: sandboxd would
	// have made a VM whose token nobody received.
	ctx = context.WithoutCancel(ctx)
	got, err := p.sandboxd.Claim(ctx, req)
	p.capacity.observe(err, time.Now())
	if got.ID == "" {
		if sandboxd.OutcomeUnknown(err) {
			klog.FromContext(ctx).Error(err, "the outcome of a claim is unknown; a sandbox made for it carries this claim_ref and ends with its lease", "claimRef", req.ClaimRef)
		}
		return err
	}
	key, row := podcontract.Key(pod), claims.NewRow(got, p.holder(pod), time.Now())
	if addErr := p.table.Add(key, row, displaced); addErr != nil {
		return p.keepForRetry(ctx, pod, addErr)
	}
	if displaced != nil {
		p.wakeReleases()
		p.recordReleased(*displaced, "a pod of another owner has taken its name")
	}
	if err != nil {
		// The answer named a sandbox and could not be read in full.
		p.withdraw(ctx, claims.Claim{Key: key, Row: row})
		return err
	}
	klog.FromContext(ctx).Info("claimed a sandbox", "claim", got.ID, "address", got.OwnerAddr, "deadline", got.Deadline)
	p.record(subjectOfPod(pod), corev1.EventTypeNormal, eventClaimed, messageClaimed)
	if problem := podcontract.AddressProblem(got.OwnerAddr); problem != "" {
		klog.FromContext(ctx).Info("the pod is published without an address", "claim", got.ID, "problem", problem)
		p.record(subjectOfPod(pod), corev1.EventTypeWarning, eventAddress, messageAddress+problem)
	}
	p.rechecks.forget(key)
	p.pods.track(pod)
	return nil
}

// keepForRetry returns the sandbox of a claim whose write did not land. When that
// fails too, the Pod and the credential are kept, and UpdatePod returns the claim
// before it takes a new one (Pod contract).
func (p *Provider) keepForRetry(ctx context.Context, pod *corev1.Pod, addErr error) error {
	c, held := p.table.Get(podcontract.Key(pod))
	if errors.Is(addErr, claims.ErrOtherClaim) || !held || c.State != claims.Tentative {
		// The table keeps the credential in its releasing list.
		p.wakeReleases()
		return fmt.Errorf("record the claim: %w", addErr)
	}
	if err := p.returnClaim(ctx, c); err != nil {
		klog.FromContext(ctx).Error(err, "a claim could neither be recorded nor returned; keeping its credential", "claim", c.ID)
		p.pods.track(pod)
	}
	return notDurable(addErr)
}

// returnClaim returns the sandbox of a tentative claim, which never served
// anybody. Nil means that its key is free: the node has confirmed, or the release
// queue goes on until it has.
func (p *Provider) returnClaim(ctx context.Context, c claims.Claim) error {
	if err := p.table.EnsureDurable(); err != nil {
		return notDurable(err)
	}
	gone, err := p.destroy(ctx, c)
	if err != nil {
		return fmt.Errorf("return a sandbox: %w", err)
	}
	if !gone {
		p.withdraw(ctx, c)
		return nil
	}
	klog.FromContext(ctx).Info("returned a sandbox whose claim could not be recorded", "claim", c.ID)
	p.forget(ctx, c)
	return nil
}

// notDurable wraps a table error for the Pod's event.
func notDurable(err error) error {
	return fmt.Errorf("the claims table could not be written; free space or fix the permissions of the state directory: %w", err)
}

// capacityGate holds claims back for as long as sandboxd asked the node to
// stay away, so that a Pod waits its turn without a request of its own. The
// zero value is open.
type capacityGate struct {
	mu     sync.Mutex
	closed time.Time
}

func (g *capacityGate) check(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if wait := g.closed.Sub(now); wait > 0 {
		return &sandboxd.Error{Op: "claim", Class: sandboxd.NoCapacity, Status: 429, Wait: wait}
	}
	return nil
}

// observe closes the gate when a claim was answered with a wait.
func (g *capacityGate) observe(err error, now time.Time) {
	var e *sandboxd.Error
	if !errors.As(err, &e) || e.Class != sandboxd.NoCapacity || e.Wait == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = now.Add(e.Wait)
}
