// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/attempts"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/binding"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/deletion"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/events"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/goroutinemap"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/pods"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/release"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/sandboxes"
	"github.com/cocoonstack/vk-sandbox/pkg/provider/status"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

// Sandboxd is the part of sandboxd's API that the provider uses.
type Sandboxd interface {
	binding.Client
	release.Client
	sandboxes.Client
	sandboxes.InfoClient
}

// Owners decides whether a sandbox may be released.
type Owners interface{ release.Owners }

// Config configures a [Provider]. All fields are required except PodsListed, ReleaseByID,
// MissingOwnersHold, UnadoptableGrace, LeaseWarning, OrphanScanInterval and Jitter.
type Config struct {
	Table    *claims.Table
	Sandboxd Sandboxd
	Owners   Owners
	// Pods is a cache of the Pods bound to the virtual node. Its objects are not
	// modified.
	Pods corev1listers.PodLister
	// PodsSynced reports whether Pods has seen a complete list.
	PodsSynced func() bool
	// Shows reports whether the API server is known to have the status and the claim id
	// of a Pod.
	Shows func(*corev1.Pod) bool
	// PodClient removes deleted Pods once their claim is decided.
	PodClient corev1client.PodsGetter
	// Recorder takes the events about a sandbox, for its Pod and for the owner.
	Recorder events.Sink
	// PodsListed returns how often Pods has been filled from a new list; nil if that is
	// unknown. While it does not change, no deletion can be missed.
	PodsListed func() uint64
	// ReleaseByID releases a sandbox with the node API token; nil if that is not
	// possible.
	ReleaseByID func(ctx context.Context, id string) error
	// MissingOwnersHold is how long claims are kept whose Pods and owners went missing
	// together without a deletion being seen; 0 means [release.DefaultHold].
	MissingOwnersHold time.Duration
	// UnadoptableGrace is how long a claim that no Pod can adopt is kept while its owner
	// lives; 0 means until its owner or its lease ends.
	UnadoptableGrace time.Duration
	// LeaseWarning is how long before its end the lease of a running Pod is warned of, at
	// most a quarter of the lease; 0 means never.
	LeaseWarning time.Duration
	// OrphanScanInterval is the interval of the orphan scan; 0 disables it.
	OrphanScanInterval time.Duration
	// Jitter lengthens each loop's interval at random, by at most this fraction, so
	// that the nodes of a cluster do not act in step. At 0 intervals do not vary.
	Jitter float64
}

// Provider implements virtual-kubelet's PodLifecycleHandler and PodNotifier.
type Provider struct {
	reporter

	lister     corev1listers.PodLister
	podsSynced func() bool
	scanEvery  time.Duration
	jitter     float64

	events    *events.Recorder
	verifier  *sandboxes.Verifier
	binder    *binding.Binder
	deletions *deletion.Decider

	observed *observer
	attempts attempts.Tracker
	// running has the attempts in progress.
	running *goroutinemap.Map
}

// validate reports all that is missing.
func (c *Config) validate() error {
	return errors.Join(validation.Missing(map[string]bool{
		"table": c.Table == nil, "sandboxd client": c.Sandboxd == nil, "owners": c.Owners == nil, "pod lister": c.Pods == nil,
		"pod cache state": c.PodsSynced == nil, "published status check": c.Shows == nil, "pod client": c.PodClient == nil,
		"event recorder": c.Recorder == nil,
	})...)
}

// New checks the configuration and returns a Provider. Its loops start with
// [Provider.Run].
func New(c Config) (*Provider, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	if c.PodsListed == nil {
		c.PodsListed = func() uint64 { return 0 }
	}
	p := &Provider{
		reporter: reporter{table: c.Table, pods: pods.NewManager(c.Pods), health: sandboxes.NewHealth(c.Sandboxd)},
		lister:   c.Pods, podsSynced: c.PodsSynced, scanEvery: c.OrphanScanInterval, jitter: c.Jitter,
		events:  events.NewRecorder(c.Recorder),
		running: goroutinemap.New(maxAttempts),
	}
	p.statuses = status.NewManager(c.Table, p.pods, c.Shows)
	p.index = sandboxes.NewIndex(c.Sandboxd, c.Table, p.pods.EndedWithSandbox)
	p.orphans = sandboxes.NewOrphanScan(p.index)
	p.releases = release.NewQueue(release.Config{
		Table: c.Table, Client: c.Sandboxd, Index: p.index, ReleaseByID: c.ReleaseByID, Jitter: c.Jitter,
	})
	p.owners = release.NewOwnerCheck(release.OwnerCheckConfig{
		Table: c.Table, Queue: p.releases, Owners: c.Owners, Pods: p.pods, Events: p.events,
		PodLists: c.PodsListed, Hold: c.MissingOwnersHold, Grace: c.UnadoptableGrace,
	})
	p.binder = binding.New(binding.Config{
		Table: c.Table, Client: c.Sandboxd, Index: p.index, Releases: p.releases, OwnerCheck: p.owners,
		Pods: p.pods, Statuses: p.statuses, Events: p.events, PodsSynced: c.PodsSynced,
	})
	p.verifier = sandboxes.NewVerifier(p.index, c.Table, p.pods, p.binder.SandboxGone)
	p.warnings = sandboxes.NewLeaseWarnings(p.verifier, c.LeaseWarning, p.events.LeaseEnding)
	p.deletions = deletion.New(deletion.Config{
		Table: c.Table, Pods: p.pods, Binder: p.binder, OwnerCheck: p.owners, Releases: p.releases,
		Statuses: p.statuses, Events: p.events, PodClient: c.PodClient,
	})
	p.observed = newObserver(p.pods.TryLock, p.handleObserved)
	return p, nil
}

var _ Sandboxd = (*sandboxd.Client)(nil)
