// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/klog/v2"

	"github.com/cocoonstack/vk-sandbox/pkg/claims"
	"github.com/cocoonstack/vk-sandbox/pkg/claims/claimfile"
	"github.com/cocoonstack/vk-sandbox/pkg/place"
)

// newGuard returns the guard of the table's place, and the host's id. It reads the
// cluster's identity with the heartbeat's client, whose rate limit a burst of other
// requests cannot use up.
func newGuard(ctx context.Context, o *options, kube *clients, table *claims.Table) (guard *place.Guard, host string, err error) {
	if host, err = place.HostID(o.machineIDFile); err != nil {
		return nil, "", fmt.Errorf("%s: %w", o.origin("machine-id-file"), err)
	}
	if host == "" && o.machineIDFile != "" {
		klog.FromContext(ctx).Info("This host has no machine id, so only the cluster of the claims table is checked; set the machine id up, or give --machine-id-file the file that has it",
			"file", o.machineIDFile)
	}
	return place.New(place.Config{
		Table: table, Cluster: place.NewCluster(kube.heartbeat.CoreV1()), Host: host, FS: claimfile.OS(),
		StatePath: o.statePath, ApproveCommand: approvePlaceCommand(o.statePath),
	}), host, nil
}

// afterAdmission runs a part of the daemon that claims, releases or publishes, once the
// guard has accepted the claims table.
func afterAdmission(ctx context.Context, guard *place.Guard, run func(context.Context) error) error {
	select {
	case <-ctx.Done():
		return nil
	case <-guard.Admitted():
		return run(ctx)
	}
}
