// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
	"github.com/cocoonstack/vk-sandbox/pkg/sandboxd"
)

// config is the daemon's configuration: its options, and the clients for what they name.
type config struct {
	*options
	sandboxd *sandboxd.Client
	kube     *clients
}

// config builds the clients. It reads the files that the options name, and connects to
// nothing.
func (o *options) config(getenv func(string) string) (*config, error) {
	node, err := sandboxdClient(o)
	if err != nil {
		return nil, err
	}
	api, err := kubeConfig("vk-sandbox", getenv)
	if err != nil {
		return nil, err
	}
	api.QPS, api.Burst = float32(o.kubeAPIQPS), o.kubeAPIBurst
	kube, err := newClients(api)
	if err != nil {
		return nil, err
	}
	return &config{options: o, sandboxd: node, kube: kube}, nil
}

func sandboxdClient(o *options) (*sandboxd.Client, error) {
	c := sandboxd.Config{URL: o.sandboxdURL}
	if o.sandboxdTokenFile != "" {
		token, err := sandboxd.FileToken(o.sandboxdTokenFile)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.origin("sandboxd-token-file"), err)
		}
		c.Token = token
	}
	client, err := sandboxd.NewClient(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.origin("sandboxd-url"), err)
	}
	return client, nil
}

// kubeConfig returns the in-cluster configuration, or else the kubeconfig at $KUBECONFIG.
// program is the user agent in the API server's logs.
func kubeConfig(program string, getenv func(string) string) (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		path := getenv("KUBECONFIG")
		if path == "" {
			return nil, fmt.Errorf("find the Kubernetes API: no in-cluster configuration (%w) and KUBECONFIG is not set; run in a Pod with a service account, or set KUBECONFIG", err)
		}
		loaded, fileErr := clientcmd.BuildConfigFromFlags("", path)
		if fileErr != nil {
			return nil, fmt.Errorf("load the kubeconfig at KUBECONFIG: %w", errors.Join(fileErr, err))
		}
		config = loaded
	}
	config.UserAgent = program + "/" + buildVersion()
	return config, nil
}

// heartbeatTimeout bounds one request of the node's heartbeat: a hanging connection must
// not outlast the lease of 40 seconds.
const heartbeatTimeout = 10 * time.Second

// clients are the Kubernetes clients. Each has its own rate limit, so that a burst of one
// kind of request delays no other.
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
