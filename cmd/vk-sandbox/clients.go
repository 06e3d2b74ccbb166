// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
)

// heartbeatTimeout bounds one request of the node's heartbeat: a connection
// that hangs must not outlast the lease of 40 seconds.
const heartbeatTimeout = 10 * time.Second

// clients are the Kubernetes clients. Each has a rate limit of its own, so that
// a burst of one kind of request holds up no other.
type clients struct {
	pods      kubernetes.Interface
	heartbeat kubernetes.Interface
	events    kubernetes.Interface
	owners    dynamic.Interface
	objects   versioned.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
}

func newClients(config *rest.Config) (*clients, error) {
	core := rest.CopyConfig(config)
	core.ContentType = runtime.ContentTypeProtobuf
	core.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	heartbeat := rest.CopyConfig(core)
	heartbeat.QPS, heartbeat.Timeout = -1, heartbeatTimeout

	var c clients
	var err error
	if c.pods, err = kubernetes.NewForConfig(core); err != nil {
		return nil, fmt.Errorf("build the Kubernetes client: %w", err)
	}
	if c.heartbeat, err = kubernetes.NewForConfig(heartbeat); err != nil {
		return nil, fmt.Errorf("build the heartbeat client: %w", err)
	}
	if c.events, err = kubernetes.NewForConfig(core); err != nil {
		return nil, fmt.Errorf("build the event client: %w", err)
	}
	if c.owners, err = dynamic.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("build the owner client: %w", err)
	}
	if c.objects, err = versioned.NewForConfig(config); err != nil {
		return nil, fmt.Errorf("build the client of the node's own objects: %w", err)
	}
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.pods.Discovery()))
	return &c, nil
}
