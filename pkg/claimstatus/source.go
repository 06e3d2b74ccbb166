// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package claimstatus

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	api "github.com/cocoonstack/vk-sandbox/pkg/apis/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1alpha1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// content is a status to publish, and the digest that shows whether it is new.
type content struct {
	document
	digest digest
}

// Collect implements [publish.Source].
func (s *source) Collect(ctx context.Context) (content, error) {
	if err := s.read(ctx); err != nil {
		return content{}, publish.Failed("read the claim status", err, "")
	}
	status := s.collector.Collect()
	keepTransitions(status.Conditions, s.record.conditions, *timeOf(time.Now()))
	d, err := newDocument(v1alpha1.NodeClaimStatus(s.config.NodeName), status, MaxBytes)
	if err != nil {
		return content{}, publish.Failed("build the claim status", err, "")
	}
	sum, err := d.Status.digest()
	if err != nil {
		return content{}, publish.Failed("build the claim status", err, "")
	}
	return content{d, sum}, nil
}

// read reads the object if needed: once for the transition times of an earlier run's
// conditions, and whenever record.doubtful is set. It asks for the present state, not for
// a cached one.
func (s *source) read(ctx context.Context) error {
	if s.record.resumed && !s.record.doubtful {
		return nil
	}
	// A missing object and a missing CRD both answer NotFound here; the apply
	// distinguishes them.
	object, err := s.config.Client.Get(ctx, s.config.NodeName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		object = nil
	case err != nil:
		return err
	}
	if s.record.doubtful {
		s.record.confirm(object)
	}
	if !s.record.resumed && object != nil {
		s.record.conditions = object.Status.Conditions
	}
	s.record.resumed = true
	return nil
}

// Changed implements [publish.Source].
func (s *source) Changed(c content, owner types.UID) bool {
	return s.record.changed(c.digest) || owner != "" && !ownedBy(s.record.stored, owner)
}

// Apply implements [publish.Source].
func (s *source) Apply(ctx context.Context, c content, node *corev1.Node) (publish.Publication, error) {
	c.WithOwnerReferences(publish.Owner(node))
	c.Status.LastPublishedTime = timeOf(time.Now())
	known := s.record.stored != nil
	err := s.apply(ctx, node, c.document)
	if known && apierrors.IsNotFound(err) {
		// It was deleted, and the watch has not shown that yet.
		s.record.stored = nil
		err = s.apply(ctx, node, c.document)
	}
	if err != nil {
		return publish.Publication{}, err
	}
	shown := len(c.Status.Claims)
	done := publish.Publication{Items: shown, Total: shown + int(*c.Status.TruncatedCount), Repaired: s.record.stale}
	s.record.published(c.digest, c.Status.Conditions)
	return done, nil
}

// apply writes the object, if it is new or has another owner, and then its status: the
// API server takes the status in a separate request.
func (s *source) apply(ctx context.Context, node *corev1.Node, d document) error {
	if !ownedBy(s.record.stored, node.UID) {
		stored, err := publish.Apply(ctx, s.config.Client, s.config.NodeName, d.NodeClaimStatusApplyConfiguration)
		if err != nil {
			return kind(s.config.Off).ApplyFailure("apply the claim status object", err)
		}
		s.record.stored = stored
	}
	stored, err := publish.Apply(ctx, s.config.Client, s.config.NodeName, d, "status")
	if err != nil {
		return kind(s.config.Off).ApplyFailure("apply the claim status", err)
	}
	s.record.stored = stored
	return nil
}

func ownedBy(object *api.NodeClaimStatus, uid types.UID) bool {
	if object == nil {
		return false
	}
	for _, owner := range object.OwnerReferences {
		if owner.UID == uid {
			return true
		}
	}
	return false
}
