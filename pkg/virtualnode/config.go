// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"fmt"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"k8s.io/client-go/kubernetes"

	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/podcache"
)

// Provider runs the Pods that the pod controller hands over.
type Provider interface {
	node.PodLifecycleHandler
	node.PodNotifier
}

// Config configures a [VirtualNode]. docs/configuration.md describes the settings that
// users see.
type Config struct {
	// Config configures the Node object. Its Recorder also records the events of the pod
	// controller.
	nodeobject.Config

	// ListenAddr is the address of the kubelet API. Its port is published in the Node's
	// daemon endpoints; port 0 takes a free one.
	ListenAddr string
	// CertFile and KeyFile name the serving certificate; without them a self-signed one
	// is generated.
	CertFile, KeyFile string
	// Admitted is closed once the daemon may serve Pods; nil means from the start. Until
	// then the Node is registered with its conditions but no capacity for Pods, and the
	// provider receives none.
	Admitted <-chan struct{}

	// QueueQPS and QueueBurst bound each of the three pod queues.
	QueueQPS   float64
	QueueBurst int

	// Client reads and writes Pods. Required.
	Client kubernetes.Interface
	// Pods are the Pods bound to this node. Required.
	Pods *podcache.Informer
	// Provider receives the Pods. Its claims must be loaded. Required.
	Provider Provider
	// Observer receives changes of the Pods at the API server; it may be nil.
	Observer podcache.Observer
}

// validate reports everything that is wrong with the configuration.
func (c *Config) validate() error {
	errs := []error{c.Validate(map[string]bool{
		"client": c.Client == nil, "pod informer": c.Pods == nil, "provider": c.Provider == nil,
	})}
	if c.QueueQPS <= 0 || c.QueueBurst <= 0 {
		errs = append(errs, fmt.Errorf("queue rate %v with a burst of %d is not above zero", c.QueueQPS, c.QueueBurst))
	}
	return errors.Join(errs...)
}
