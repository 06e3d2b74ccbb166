// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// waitNodes waits until every daemon and every virtual node is Ready, and returns the
// nodes' names.
func (r *run) waitNodes(ctx context.Context) ([]string, error) {
	s := step{wanted: "Ready virtual node of every host", next: r.nodesHint()}
	var names []string
	err := r.await(ctx, s, func(ctx context.Context) (observation, error) {
		wanted, state, err := r.daemons(ctx)
		if err != nil || state != "" {
			return observation{state: state}, err
		}
		list, err := r.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: r.Nodes.String()})
		if err != nil {
			return observation{}, err
		}
		names = names[:0]
		var lacking []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
			if lack := lacks(&list.Items[i]); lack != "" {
				lacking = append(lacking, list.Items[i].Name+" "+lack)
			}
		}
		if len(names) < wanted {
			lacking = append(lacking, fmt.Sprintf("%d of %d Nodes with the labels %s are registered", len(names), wanted, r.Nodes))
		}
		return observation{done: len(lacking) == 0, state: strings.Join(lacking, ", ")}, nil
	})
	if err != nil {
		return nil, err
	}
	r.printf("virtual nodes: %s", strings.Join(names, ", "))
	return names, nil
}

func (r *run) nodesHint() string {
	const stale = "kubectl describe the Node; delete it if its host has left for good"
	if r.DaemonSet == "" {
		return stale
	}
	return fmt.Sprintf("kubectl -n %[1]s describe daemonset/%[2]s, kubectl -n %[1]s logs daemonset/%[2]s; %[3]s", r.Namespace, r.DaemonSet, stale)
}

// daemons returns the required number of virtual nodes, or why the DaemonSet is not
// ready.
func (r *run) daemons(ctx context.Context) (wanted int, state string, err error) {
	if r.DaemonSet == "" {
		return 1, "", nil
	}
	set, err := r.Client.AppsV1().DaemonSets(r.Namespace).Get(ctx, r.DaemonSet, metav1.GetOptions{})
	if err != nil {
		return 0, "", err
	}
	return int(set.Status.DesiredNumberScheduled), rollout(set), nil
}

func rollout(set *appsv1.DaemonSet) string {
	is := set.Status
	switch {
	case is.ObservedGeneration < set.Generation:
		return fmt.Sprintf("DaemonSet %s has just been changed", set.Name)
	case is.DesiredNumberScheduled == 0:
		return fmt.Sprintf("DaemonSet %s finds no host to run on", set.Name)
	case is.NumberReady < is.DesiredNumberScheduled:
		return fmt.Sprintf("%d of %d Pods of DaemonSet %s are Ready", is.NumberReady, is.DesiredNumberScheduled, set.Name)
	}
	return ""
}

// lacks returns why the node accepts no sandbox Pods; empty if it does.
func lacks(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		return "is cordoned"
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return ""
		}
	}
	return "is not Ready"
}
