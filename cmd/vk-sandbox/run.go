// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
)

// loopJitter keeps the nodes of a cluster from acting in step.
const loopJitter = 0.2

// gcPercent is how much the heap may grow over what is alive before it is collected.
// The daemon holds thousands of Pods and does little else, so it trades some
// processor time, of which it uses next to none, for the memory of its host. GOGC
// in the environment wins.
const gcPercent = 50

// run wires the daemon and runs it until ctx ends. What the settings name is
// checked first, and metrics and health are served from then on. Then the table
// is locked and loaded, and only then is anything asked of the cluster. Nothing is
// claimed, released or published before the guard has accepted the table here.
func run(ctx context.Context, o *options, getenv func(string) string) error {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	node, err := sandboxdClient(o)
	if err != nil {
		return err
	}
	config, err := kubeConfig("vk-sandbox", getenv)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = float32(o.kubeAPIQPS), o.kubeAPIBurst
	kube, err := newClients(config)
	if err != nil {
		return err
	}
	watch := &monitor{metrics: daemonmetrics.New(buildVersion())}
	server, err := watch.listen(ctx, o)
	if err != nil {
		return err
	}

	group, ctx := errgroup.WithContext(ctx)
	if server != nil {
		group.Go(func() error { return server.Run(ctx) })
	}
	group.Go(func() error { return serve(ctx, o, node, kube, watch) })
	return group.Wait()
}

// serve is the daemon but for its metrics and health.
func serve(ctx context.Context, o *options, client *sandboxd.Client, kube *clients, watch *monitor) (err error) {
	lock, err := claims.Lock(ctx, o.statePath)
	if err != nil {
		return fmt.Errorf("%s: %w", o.origin("state-path"), err)
	}
	defer func() {
		if unlockErr := lock.Unlock(); err == nil && unlockErr != nil {
			err = fmt.Errorf("unlock the claims table: %w", unlockErr)
		}
	}()
	table, err := claims.Open(lock.Guard(claims.OS()), o.statePath, time.Now())
	if err != nil {
		return fmt.Errorf("%s: %w", o.origin("state-path"), err)
	}
	klog.FromContext(ctx).Info("Claims table loaded", "path", o.statePath, "claims", len(table.List()), "releasing", len(table.Releasing()))

	watch.table(table)
	guard, host, err := newGuard(ctx, o, kube, table)
	if err != nil {
		return err
	}
	watch.guard(guard)

	node := watch.metrics.Sandboxd.Measure(client)
	pods := virtualnode.NewPodInformer(kube.pods, o.nodeName)
	// Not the heartbeat client: its time-out would end the watch.
	ownNode := virtualnode.NewNodeInformer(kube.pods, o.nodeName)
	recorder, stopEvents := virtualnode.NewRecorder(ctx, kube.events, o.nodeName, o.disablePodEvents)
	defer stopEvents()
	lifecycle, err := provider.New(provider.Config{
		Table:              table,
		Sandboxd:           node,
		Owners:             watch.metrics.Owners.Count(ownership.NewAuthorizer(kube.owners, kube.mapper, kube.pods.CoreV1(), guard)),
		Pods:               pods.SharedLister(),
		PodsSynced:         pods.HasSynced,
		Shows:              pods.Shows,
		PodsListed:         pods.Lists,
		PodClient:          kube.pods.CoreV1(),
		ReleaseByID:        node.ReleaseByID,
		Recorder:           recorder,
		MissingOwnersHold:  o.missingOwnersHold,
		OrphanScanInterval: o.orphanScanInterval,
		Jitter:             loopJitter,
	})
	if err != nil {
		return err
	}
	virtual, err := virtualnode.New(virtualnode.Config{
		NodeName: o.nodeName, NodeIP: o.nodeIP, Labels: o.nodeLabels, Version: buildVersion(),
		HostID: host, Admitted: guard.Admitted(),
		CPU: o.nodeCPU, Memory: o.nodeMemory, MaxPods: o.nodePods,
		ListenAddr: o.listenAddr, CertFile: o.tlsCert, KeyFile: o.tlsKey,
		QueueQPS: o.kubeAPIQPS, QueueBurst: o.kubeAPIBurst,
		Client: kube.pods, HeartbeatClient: kube.heartbeat,
		Pods: pods, Node: ownNode, Provider: watch.metrics.Provider.Measure(lifecycle), Observer: lifecycle, Recorder: recorder,
		Conditions: func() []virtualnode.Condition {
			return []virtualnode.Condition{
				sandboxdReachable(lifecycle.Reach()), claimsTableWritable(table.Writes()), claimsTableAccepted(guard.Status()),
			}
		},
	})
	if err != nil {
		return err
	}
	publishers, err := newPublishers(o, kube, ownNode.Get, node, table, lifecycle, watch.metrics.Objects)
	if err != nil {
		return err
	}
	watch.node(pods, lifecycle, virtual)

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return lock.Watch(ctx) })
	group.Go(func() error { return guard.Run(ctx) })
	group.Go(func() error { return virtual.Run(ctx) })
	group.Go(func() error {
		return afterAdmission(ctx, guard, func(ctx context.Context) error { lifecycle.Run(ctx); return nil })
	})
	group.Go(func() error {
		return afterAdmission(ctx, guard, func(ctx context.Context) error {
			watchApprovals(ctx, claims.OS(), o.statePath, lifecycle)
			return nil
		})
	})
	for _, publisher := range publishers {
		group.Go(func() error {
			select {
			case <-ctx.Done():
				return nil
			case <-virtual.Registered():
				return afterAdmission(ctx, guard, publisher.Run)
			}
		})
	}
	return group.Wait()
}

func sandboxdClient(o *options) (*sandboxd.Client, error) {
	c := sandboxd.Config{URL: o.sandboxdURL}
	if o.sandboxdTokenFile != "" {
		token, err := sandboxd.FileToken(o.sandboxdTokenFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.origin("sandboxd-token-file"), err)
		}
		c.Token = token
	}
	client, err := sandboxd.NewClient(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.origin("sandboxd-url"), err)
	}
	return client, nil
}
