// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/cmd/vk-sandbox/daemonmetrics"
	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/ownership"
	"github.com/cocoonstack/vk-sandbox/pkg/provider"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/kubeletapi"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/podcache"
)

// loopJitter prevents the nodes of a cluster from acting in step.
const loopJitter = 0.2

// run wires the daemon and runs it until ctx ends. Metrics and health are served from the
// start. Nothing is requested from the cluster before the table is locked and loaded, and
// nothing is claimed, released or published before the guard has accepted the table.
func run(ctx context.Context, c *config) error {
	watch := &monitor{metrics: daemonmetrics.New(buildVersion())}
	server, err := watch.listen(ctx, c.options)
	if err != nil {
		return err
	}

	group, ctx := errgroup.WithContext(ctx)
	if server != nil {
		group.Go(func() error { return server.Run(ctx) })
	}
	group.Go(func() error { return serve(ctx, c.options, c.sandboxd, c.kube, watch) })
	return group.Wait()
}

// serve runs the daemon without its metrics and health.
func serve(ctx context.Context, o *options, client *sandboxd.Client, kube *clients, watch *monitor) (err error) {
	lock, err := claimfile.Lock(ctx, o.statePath)
	if err != nil {
		return fmt.Errorf("%s: %w", o.origin("state-path"), err)
	}
	defer func() {
		if unlockErr := lock.Unlock(); err == nil && unlockErr != nil {
			err = fmt.Errorf("unlock the claims table: %w", unlockErr)
		}
	}()
	table, err := claims.Open(claimfile.New(lock.Guard(claimfile.OS()), o.statePath), time.Now())
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
	pods := podcache.NewInformer(kube.pods, o.nodeName)
	// The heartbeat client's timeout would end the watch.
	ownNode := nodeobject.NewInformer(kube.pods, o.nodeName)
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
		UnadoptableGrace:   o.unadoptableGrace,
		LeaseWarning:       o.leaseWarning,
		OrphanScanInterval: o.orphanScanInterval,
		Jitter:             loopJitter,
	})
	if err != nil {
		return err
	}
	virtual, err := virtualnode.New(virtualnode.Config{
		Config: nodeobject.Config{
			NodeName: o.nodeName, NodeIP: o.nodeIP, Labels: o.nodeLabels, Version: buildVersion(), HostID: host,
			CPU: o.nodeCPU.Quantity, Memory: o.nodeMemory.Quantity, EphemeralStorage: o.nodeEphemeralStorage.Quantity,
			MaxPods:         o.nodePods.Quantity,
			HeartbeatClient: kube.heartbeat, Node: ownNode, Recorder: recorder,
			Conditions: func() []metav1.Condition {
				return []metav1.Condition{
					lifecycle.SandboxdReachable(), table.Writes().Condition(), guard.Status().Condition(),
				}
			},
		},
		ListenAddr: o.listenAddr, CertFile: o.tlsCert, KeyFile: o.tlsKey, Admitted: guard.Admitted(),
		QueueQPS: o.kubeAPIQPS, QueueBurst: o.kubeAPIBurst,
		Client: kube.pods, Pods: pods, Provider: watch.metrics.Provider.Measure(lifecycle), Observer: lifecycle,
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
	group.Go(func() error { return o.withFlag(virtual.Run(ctx)) })
	group.Go(func() error {
		return afterAdmission(ctx, guard, func(ctx context.Context) error { lifecycle.Run(ctx); return nil })
	})
	group.Go(func() error {
		return afterAdmission(ctx, guard, func(ctx context.Context) error {
			watchApprovals(ctx, claimfile.OS(), o.statePath, lifecycle)
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

// withFlag adds the flag's name to an error about a setting of the virtual node.
func (o *options) withFlag(err error) error {
	var (
		flag        string
		name        *nodeobject.NameTakenError
		address     *kubeletapi.AddressError
		certificate *kubeletapi.CertificateError
	)
	switch {
	case errors.As(err, &name):
		flag = "node-name"
	case errors.As(err, &address):
		flag = "listen-addr"
	case errors.As(err, &certificate):
		flag = "tls-cert"
	default:
		return err
	}
	return fmt.Errorf("%s: %w", o.origin(flag), err)
}
