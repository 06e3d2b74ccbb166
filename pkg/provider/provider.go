// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// Sandboxd is what the provider asks of the node's daemon.
type Sandboxd interface {
	Claim(context.Context, sandboxd.ClaimRequest) (sandboxd.Claim, error)
	Release(ctx context.Context, id string, token sandboxd.Token) error
	List(context.Context) ([]sandboxd.Sandbox, error)
	Get(ctx context.Context, id string) (sandboxd.Sandbox, error)
	Info(context.Context) (sandboxd.Info, error)
}

// Owners judges what may be destroyed.
type Owners interface {
	Owner(ctx context.Context, namespace string, o claims.Owner) ownership.Decision
	Pod(ctx context.Context, namespace, name string, uid types.UID) ownership.Decision
}

// Config is what a [Provider] is made from. Every field is required but
// PodsListed, ReleaseByID, MissingOwnersHold, OrphanScanInterval and Jitter.
type Config struct {
	Table    *claims.Table
	Sandboxd Sandboxd
	Owners   Owners
	// Pods is a cache of the Pods bound to the virtual node. What it returns is
	// not changed here.
	Pods corev1listers.PodLister
	// PodsSynced reports whether Pods has seen a whole list.
	PodsSynced func() bool
	// Shows reports whether the API server has the status and the claim id of a
	// Pod already, as far as is known.
	Shows func(*corev1.Pod) bool
	// PodClient removes deleted Pods whose claim is decided.
	PodClient corev1client.PodsGetter
	// Recorder records what happens to a sandbox, on its Pod and on the owner.
	Recorder Recorder
	// PodsListed returns how often Pods has been filled from a new list; nil where
	// that is not known. While it does not change, no deletion can be missed.
	PodsListed func() uint64
	// ReleaseByID releases a sandbox with the node API token, whatever its own; nil
	// where that is not possible.
	ReleaseByID func(ctx context.Context, id string) error
	// MissingOwnersHold is how long claims are kept whose Pods and owners went
	// missing together without a deletion having been seen; 0 means
	// [DefaultMissingOwnersHold].
	MissingOwnersHold time.Duration
	// OrphanScanInterval is the audit's cadence; 0 switches it off.
	OrphanScanInterval time.Duration
	// Jitter lengthens each loop's interval at random, by at most this
	// fraction, so that the nodes of a cluster do not act in step. At 0 they
	// do not vary.
	Jitter float64
}

// Provider implements virtual-kubelet's PodLifecycleHandler and PodNotifier.
type Provider struct {
	table      *claims.Table
	sandboxd   Sandboxd
	owners     Owners
	lister     corev1listers.PodLister
	podsSynced func() bool
	shows      func(*corev1.Pod) bool
	podClient  corev1client.PodsGetter
	recorder   Recorder
	podLists   func() uint64
	scanEvery  time.Duration
	jitter     float64

	releaseByID func(ctx context.Context, id string) error

	keys     keyLocks
	pods     podSet
	absences absences
	capacity capacityGate
	rechecks rechecks
	missing  missingOwners
	attempts attempts
	reach    reachability
	audit    audits
	// serving and releasing are the attempts to serve a Pod and the releases that
	// are going on; background is the loops' workers.
	serving, releasing tasks
	background         sync.WaitGroup
	// What only [Provider.WaitingFor] and [Provider.Verified] ask for.
	unreleased unreleased
	listed     moment

	// changed has the keys of Pods whose status is to be published.
	changed workqueue.TypedInterface[string]
	// observed has the keys of Pods whose deletion or controller changed.
	observed workqueue.TypedInterface[string]
	// observeAgain paces the Pods whose deletion could not be decided.
	observeAgain workqueue.TypedRateLimiter[string]
	// withdrawn wakes the release loop.
	withdrawn chan struct{}
	publish   atomic.Pointer[func(*corev1.Pod)]
}

// New checks the configuration and returns a Provider. Its loops start with
// [Provider.Run].
func New(c Config) (*Provider, error) {
	if c.Table == nil || c.Sandboxd == nil || c.Owners == nil || c.Pods == nil || c.PodsSynced == nil || c.Shows == nil || c.PodClient == nil || c.Recorder == nil {
		return nil, errors.New("provider: the table, sandboxd, owners, pods, synced, shows, client and recorder fields are all required")
	}
	if c.PodsListed == nil {
		c.PodsListed = func() uint64 { return 0 }
	}
	return &Provider{
		table:      c.Table,
		sandboxd:   c.Sandboxd,
		owners:     c.Owners,
		lister:     c.Pods,
		podsSynced: c.PodsSynced,
		shows:      c.Shows,
		podClient:  c.PodClient,
		recorder:   c.Recorder,
		scanEvery:  c.OrphanScanInterval,
		jitter:     c.Jitter,
		podLists:   c.PodsListed,

		releaseByID:  c.ReleaseByID,
		missing:      missingOwners{hold: cmp.Or(c.MissingOwnersHold, DefaultMissingOwnersHold)},
		serving:      tasks{limit: servesAtOnce},
		releasing:    tasks{limit: releasesAtOnce},
		observed:     workqueue.NewTyped[string](),
		observeAgain: workqueue.NewTypedItemExponentialFailureRateLimiter[string](observeFirst, observeMost),
		changed:      workqueue.NewTyped[string](),
		withdrawn:    make(chan struct{}, 1),
	}, nil
}
