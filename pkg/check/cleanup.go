// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// cleanUp deletes the Pod of a failed or interrupted check, with its own timeout, and
// waits until it is gone.
func (r *run) cleanUp(ctx context.Context, node, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	s := step{node: node, wanted: "end of Pod " + r.Namespace + "/" + name + " while cleaning up", next: fmt.Sprintf(
		"it goes when the daemon of the node has destroyed its sandbox; see that it does with kubectl -n %s get pod %s", r.Namespace, name)}
	return r.await(ctx, s, func(ctx context.Context) (observation, error) {
		err := r.Client.CoreV1().Pods(r.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return observation{done: true}, nil
		}
		return observation{state: "it is still there"}, err
	})
}
