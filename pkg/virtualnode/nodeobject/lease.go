// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"context"
	"fmt"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/klog/v2"
)

const (
	// leasePoll is how often the lease of another host is read.
	leasePoll = 5 * time.Second
	// leaseLapse is how long a lease must not be renewed before its holder counts as
	// gone: its duration, plus one renewal for a late holder.
	leaseLapse = (node.DefaultLeaseDuration + 10) * time.Second
)

// awaitLapse waits until nobody has renewed the lease of n for [leaseLapse]. If the lease
// is renewed, host still serves n, and the returned error names the remedy.
//
// Only a change of the lease counts, never the time in it: the clocks of two hosts can
// differ.
func awaitLapse(ctx context.Context, client kubernetes.Interface, n *corev1.Node, host string) error {
	logger := klog.FromContext(ctx).WithValues("node", klog.KObj(n), "host", host)
	logger.Info("Node belongs to another host, waiting for its lease to lapse", "after", leaseLapse)
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	ticker := time.NewTicker(leasePoll)
	defer ticker.Stop()
	var (
		last   string    // the lease as last read
		read   bool      // whether it was read at all
		failed bool      // whether the last attempt to read it failed
		since  time.Time // since when every read found the same lease
	)
	for {
		state, err := leaseState(ctx, leases, n.Name)
		switch {
		case err != nil:
			if !failed {
				logger.Error(err, "Cannot read the other host's lease yet, will try again")
			}
			// The holder may have been unable to renew it as well.
			failed, since = true, time.Time{}
		case read && state != "" && state != last:
			return &NameTakenError{fmt.Errorf("node %q is served by another host, whose identity is %q: its lease %s/%s is being renewed; "+
				"choose a node name of its own for this host, or stop the other daemon: this one takes the name over %v after the last renewal",
				n.Name, host, corev1.NamespaceNodeLease, n.Name, leaseLapse)}
		case since.IsZero():
			last, read, failed, since = state, true, false, time.Now()
		case time.Since(since) >= leaseLapse:
			return nil
		default:
			last = state
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// leaseState returns a text that changes with each renewal; empty if there is no lease.
func leaseState(ctx context.Context, leases coordinationv1client.LeaseInterface, name string) (string, error) {
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return fmt.Sprint(lease.UID, lease.ResourceVersion, lease.Spec.RenewTime), nil
}
