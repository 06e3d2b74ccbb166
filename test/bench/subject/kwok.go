// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package subject

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
	"github.com/cocoonstack/vk-sandbox/test/bench/cluster"
)

// The selector of KWOK's own installation, and the node that it selects here.
const (
	kwokAnnotation = "kwok.x-k8s.io/node"
	kwokValue      = "fake"
	kwokNode       = "bench-kwok"
	kwokLease      = 40
)

// nodePods is how many Pods either node takes.
const nodePods = 20_000

// KWOK is a Subject: KWOK with its fast stages.
type KWOK struct {
	programs Programs
	cluster  *cluster.Cluster
	process  *Process
}

// NewKWOK returns KWOK, not started.
func NewKWOK(p Programs, c *cluster.Cluster) *KWOK { return &KWOK{programs: p, cluster: c} }

// Name implements Subject.
func (k *KWOK) Name() string { return "KWOK" }

// Node implements Subject.
func (k *KWOK) Node() string { return kwokNode }

// Cluster implements Subject.
func (k *KWOK) Cluster() *cluster.Cluster { return k.cluster }

// Alive implements Subject.
func (k *KWOK) Alive() error { return k.process.Alive() }

// Check has nothing to ask: KWOK keeps nothing.
func (k *KWOK) Check(int) error { return nil }

func (k *KWOK) start(ctx context.Context) error {
	kubeconfig, err := k.cluster.Kubeconfig(ctx, cluster.KWOKAccount)
	if err != nil {
		return err
	}
	stages, err := k.stages()
	if err != nil {
		return err
	}
	if _, err := k.cluster.Client.CoreV1().Nodes().Create(ctx, k.newNode(), metav1.CreateOptions{}); err != nil {
		return err
	}
	k.process, err = StartProcess(ctx, k.programs.Logs, "kwok", nil, k.programs.Kwok,
		"--kubeconfig="+kubeconfig, "--config="+strings.Join(stages, ","),
		"--manage-nodes-with-annotation-selector="+kwokAnnotation+"="+kwokValue,
		fmt.Sprintf("--node-lease-duration-seconds=%d", kwokLease),
	)
	if err != nil {
		return err
	}
	return waitSchedulable(ctx, k)
}

// stages are those that KWOK's kustomize/stage/fast names.
func (k *KWOK) stages() ([]string, error) {
	var stages []string
	for _, folder := range []string{"node/fast", "node/heartbeat-with-lease", "pod/fast"} {
		files, err := filepath.Glob(filepath.Join(k.programs.KwokStages, folder, "*-*.yaml"))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("--kwok-stages: no stage in %s; run \"make bench\", which finds KWOK's module", filepath.Join(k.programs.KwokStages, folder))
		}
		stages = append(stages, files...)
	}
	return stages, nil
}

// newNode is as the daemon's own, for the scheduler.
func (k *KWOK) newNode() *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("4000"), corev1.ResourceMemory: resource.MustParse("8Ti"),
		corev1.ResourceEphemeralStorage: resource.MustParse("16Ti"), corev1.ResourcePods: *resource.NewQuantity(nodePods, resource.DecimalSI),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        kwokNode,
			Annotations: map[string]string{kwokAnnotation: kwokValue},
			Labels:      map[string]string{corev1.LabelHostname: kwokNode, podcontract.LabelRuntime: podcontract.RuntimeSandboxd},
		},
		Spec:   corev1.NodeSpec{Taints: []corev1.Taint{{Key: podcontract.TaintKey, Value: podcontract.TaintValue, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: capacity.DeepCopy()},
	}
}

func (k *KWOK) stop(ctx context.Context) error {
	return errors.Join(k.process.Stop(), k.cluster.RemoveNode(ctx, kwokNode))
}
