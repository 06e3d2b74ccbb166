// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package place

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// Cluster reads the identity of the cluster that currently answers.
type Cluster interface {
	// UID returns the cluster's identity. The request must not be answered from a cache.
	UID(ctx context.Context) (types.UID, error)
}

// NewCluster returns a Cluster identified by the UID of its kube-system namespace. It
// needs permission to get that namespace.
func NewCluster(namespaces corev1client.NamespacesGetter) Cluster { return kubeSystem{namespaces} }

type kubeSystem struct{ client corev1client.NamespacesGetter }

var errOtherAnswer = errors.New("the answer is not that namespace, or has no UID")

// UID implements [Cluster] with a quorum read.
func (k kubeSystem) UID(ctx context.Context) (types.UID, error) {
	ns, err := k.client.Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err):
		return "", fmt.Errorf("read the cluster's identity; grant this account get on the namespace %s: %w", metav1.NamespaceSystem, err)
	case err != nil:
		return "", fmt.Errorf("read the cluster's identity, the namespace %s: %w", metav1.NamespaceSystem, err)
	case ns.Name != metav1.NamespaceSystem || ns.UID == "":
		return "", fmt.Errorf("read the cluster's identity, the namespace %s: %w", metav1.NamespaceSystem, errOtherAnswer)
	}
	return ns.UID, nil
}
