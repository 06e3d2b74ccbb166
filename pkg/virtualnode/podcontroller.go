// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"context"
	"errors"
	"fmt"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"k8s.io/client-go/informers"
)

// podWorkers is the number of workers of each pod queue. Workers mostly wait for
// sandboxd, for the table's write and for the API server, so the number bounds how many
// creates a slow sandboxd can hold up and how many claims can share one durable write.
// Idle workers cost nothing. The queue and the client bound the rate. Deletes and
// statuses have their own workers, so stuck creates delay neither.
const podWorkers = 32

// newPodController builds the library's pod controller without nodeutil, whose node
// always watches the cluster's Secrets, ConfigMaps and Services. The constructor requires
// these informers, but their factory is never started and downward API resolution is off,
// so the service account needs no permission on any of the three.
func newPodController(c *Config) (*node.PodController, error) {
	never := informers.NewSharedInformerFactory(c.Client, 0).Core().V1()
	retry := retryForever(c.Pods.Lister())
	controller, err := node.NewPodController(node.PodControllerConfig{
		PodClient:                 c.Pods.Client(c.Client.CoreV1()),
		PodInformer:               c.Pods,
		EventRecorder:             newPods{c.Recorder},
		Provider:                  c.Provider,
		ConfigMapInformer:         never.ConfigMaps(),
		SecretInformer:            never.Secrets(),
		ServiceInformer:           never.Services(),
		SkipDownwardAPIResolution: true,

		SyncPodsFromKubernetesRateLimiter:        newRateLimiter(c.QueueQPS, c.QueueBurst),
		SyncPodsFromKubernetesShouldRetryFunc:    retry,
		DeletePodsFromKubernetesRateLimiter:      newRateLimiter(c.QueueQPS, c.QueueBurst),
		DeletePodsFromKubernetesShouldRetryFunc:  retry,
		SyncPodStatusFromProviderRateLimiter:     newRateLimiter(c.QueueQPS, c.QueueBurst),
		SyncPodStatusFromProviderShouldRetryFunc: retry,
	})
	if err != nil {
		return nil, fmt.Errorf("build the pod controller: %w", err)
	}
	return controller, nil
}

// runPods runs the pod controller until ctx ends.
func runPods(ctx context.Context, controller *node.PodController) error {
	err := controller.Run(ctx, podWorkers)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("run the pod controller: %w", err)
	default:
		return errors.New("the pod controller stopped by itself")
	}
}
