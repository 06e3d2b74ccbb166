// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// subject is what is measured: a process that serves the Pods of one node.
type subject interface {
	name() string
	node() string
	// start returns when Pods can be scheduled to the node.
	start(context.Context) error
	// check reports when what it holds is not what so many Pods are due.
	check(pods int) error
	alive() error
	// stop ends the process and removes its Node.
	stop(context.Context) error
	in() *cluster
}

// schedulable reports what keeps Pods from a node.
func (c *cluster) schedulable(ctx context.Context, name string) error {
	node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady || taint.Key == corev1.TaintNodeUnreachable {
			return fmt.Errorf("taint %s keeps Pods from node %s", taint.Key, name)
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("node %s is not Ready", name)
}

func (c *cluster) waitSchedulable(ctx context.Context, s subject) error {
	return poll(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		if err := s.alive(); err != nil {
			return err
		}
		return c.schedulable(ctx, s.node())
	})
}

func (c *cluster) removeNode(ctx context.Context, name string) error {
	err := c.client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// with runs a measurement on a subject that has just started.
func with(ctx context.Context, s subject, measure func() error) (err error) {
	defer func() {
		if stopErr := s.stop(context.WithoutCancel(ctx)); err == nil {
			err = stopErr
		}
	}()
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("start %s: %w", s.name(), err)
	}
	return measure()
}
