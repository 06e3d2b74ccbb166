// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"context"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
)

// StoredNode returns the current state of the Node in the API server.
func StoredNode(t *testing.T, client kubernetes.Interface) *corev1.Node {
	t.Helper()
	n, err := client.CoreV1().Nodes().Get(t.Context(), NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Condition returns a condition of a Node; an empty one if it has none of that type.
func Condition(n *corev1.Node, kind corev1.NodeConditionType) corev1.NodeCondition {
	for _, c := range n.Status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return corev1.NodeCondition{}
}

// NodeLease returns the Node's Lease, renewed at that time.
func NodeLease(renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: NodeName},
		Spec:       coordinationv1.LeaseSpec{RenewTime: new(metav1.NewMicroTime(renewed))},
	}
}

// KeepRenewed renews the Lease every ten seconds until the test ends, with a clock that is
// a year late. It creates a missing Lease.
func KeepRenewed(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	leases := client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	go func() {
		for t.Context().Err() == nil {
			lease := NodeLease(time.Now().AddDate(-1, 0, 0))
			if _, err := leases.Update(context.Background(), lease, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
				_, _ = leases.Create(context.Background(), lease, metav1.CreateOptions{})
			}
			select {
			case <-t.Context().Done():
			case <-time.After(10 * time.Second):
			}
		}
	}()
}

// Recorded returns the events since the last call. It is safe while the recorder is used.
func Recorded(events *record.FakeRecorder) (got []string) {
	for len(events.Events) > 0 {
		got = append(got, <-events.Events)
	}
	return got
}
