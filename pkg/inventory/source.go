// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/applyconfiguration/sandbox/v1beta1"
	"github.com/cocoonstack/vk-sandbox/pkg/publish"
)

// source implements [publish.Source].
type source struct {
	Collector
	config Config
}

// Changed implements [publish.Source]. Every cycle publishes, because publishedAt is the
// inventory's age.
func (s *source) Changed(Snapshot, types.UID) bool { return true }

// Apply implements [publish.Source].
func (s *source) Apply(ctx context.Context, snapshot Snapshot, node *corev1.Node) (publish.Publication, error) {
	d, err := newDocument(s.inventory(snapshot, node), snapshot, MaxBytes)
	if err != nil {
		return publish.Publication{}, publish.Failed("build the inventory", err, "")
	}
	if _, err := publish.Apply(ctx, s.config.Client, s.config.NodeName, d); err != nil {
		return publish.Publication{}, kind(s.config.Off).ApplyFailure("apply the inventory", err)
	}
	return publish.Publication{Items: len(d.Entries), Total: len(snapshot.Entries)}, nil
}

// inventory is everything but the lists.
func (s *source) inventory(snapshot Snapshot, node *corev1.Node) *v1beta1.NodeInventoryApplyConfiguration {
	return v1beta1.NodeInventory(s.config.NodeName).
		WithOwnerReferences(publish.Owner(node)).
		WithNode(s.config.NodeName).
		WithAddress(s.config.AdvertiseAddr).
		WithPublishedAt(metav1.NewTime(time.Now())).
		WithTotalWarm(snapshot.Warm).
		WithTotalEntries(int64(len(snapshot.Entries)))
}

// Wait implements [publish.Source]. Intervals are counted from the beginning of a
// cycle.
func (s *source) Wait(ctx context.Context, last publish.Cycle) {
	publish.Sleep(ctx, time.Until(last.Began.Add(publish.Jittered(s.config.Interval))))
}
