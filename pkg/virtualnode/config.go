// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package virtualnode

import (
	"errors"
	"net"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
)

// Provider runs the Pods that the pod controller hands over.
type Provider interface {
	node.PodLifecycleHandler
	node.PodNotifier
}

// Config is what a [VirtualNode] is made from. docs/configuration.md describes the
// settings that users see.
type Config struct {
	// NodeName is the Node's name and its hostname label. Required.
	NodeName string
	// NodeIP is advertised as InternalIP; nil leaves the address out.
	NodeIP net.IP
	// ListenAddr is where the kubelet API listens. Its port is published in
	// the Node's daemon endpoints; port 0 takes a free one.
	ListenAddr string
	// CertFile and KeyFile name the serving certificate; see [Certificate].
	CertFile, KeyFile string
	// CPU, Memory and MaxPods are capacity and allocatable alike.
	CPU, Memory, MaxPods resource.Quantity
	// Labels are added to those the node always has; the latter win.
	Labels map[string]string
	// Version is the build version, shown in the Node's kubelet version.
	Version string
	// HostID identifies the host that runs the node. The Node carries it, and a
	// Node that carries another one is not served while its lease is renewed.
	// Empty where it is not known: then the Node is served whatever it carries.
	HostID string
	// Admitted is closed once the daemon may serve Pods; nil means from the
	// start. Until then the Node is registered with its conditions and no room
	// for Pods, no Pod is asked for, and the provider is handed none.
	Admitted <-chan struct{}

	// QueueQPS and QueueBurst bound each of the three pod queues.
	QueueQPS   float64
	QueueBurst int

	// Client reads and writes Pods. Required.
	Client kubernetes.Interface
	// HeartbeatClient writes the Node and its lease. It is separate so that a
	// burst of Pod statuses cannot delay a heartbeat. Required.
	HeartbeatClient kubernetes.Interface
	// Pods are the Pods bound to this node. Required.
	Pods *PodInformer
	// Node is this node's own Node. Required.
	Node *NodeInformer
	// Provider takes the Pods. It must be ready to: its claims are loaded.
	// Required.
	Provider Provider
	// Observer is told what happens to the Pods at the API server; nil means that
	// nobody is.
	Observer PodObserver
	// Recorder records the events of the pod controller and of the Node. Required.
	Recorder record.EventRecorder
	// Conditions are those that the daemon adds to the Node, of the same types
	// every time. It must not block. Required.
	Conditions func() []Condition
}

func (c *Config) validate() error {
	var missing []error
	for name, absent := range map[string]bool{
		"node name":        c.NodeName == "",
		"client":           c.Client == nil,
		"heartbeat client": c.HeartbeatClient == nil,
		"pod informer":     c.Pods == nil,
		"node informer":    c.Node == nil,
		"provider":         c.Provider == nil,
		"event recorder":   c.Recorder == nil,
		"conditions":       c.Conditions == nil,
		"queue rate":       c.QueueQPS <= 0 || c.QueueBurst <= 0,
	} {
		if absent {
			missing = append(missing, errors.New("virtual node: no "+name+" given"))
		}
	}
	return errors.Join(missing...)
}
