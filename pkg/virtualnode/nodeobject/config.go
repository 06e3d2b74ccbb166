// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"errors"
	"maps"
	"net"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/cocoonstack/vk-sandbox/pkg/validation"
)

// Config configures the Node and its [Controller].
type Config struct {
	// NodeName is the Node's name and its hostname label. Required.
	NodeName string
	// NodeIP is advertised as InternalIP; nil leaves the address out.
	NodeIP net.IP
	// CPU, Memory, EphemeralStorage and MaxPods are capacity and allocatable alike.
	CPU, Memory, EphemeralStorage, MaxPods resource.Quantity
	// Labels are added to the fixed labels; the fixed ones win.
	Labels map[string]string
	// Version is the build version, shown in the Node's kubelet version.
	Version string
	// HostID identifies the host that runs the node. The Node carries it, and a Node with
	// another host's id is not served while that host renews its lease. If it is empty,
	// the host is not known, and any Node of the name is served.
	HostID string

	// HeartbeatClient writes the Node and its lease. It is separate so that a
	// burst of Pod statuses cannot delay a heartbeat. Required.
	HeartbeatClient kubernetes.Interface
	// Node watches this node's own Node. Required.
	Node *Informer
	// Recorder records the events of the Node. Required.
	Recorder record.EventRecorder
	// Conditions returns the conditions that the daemon adds to the Node, of the same
	// types every time. It must not block. Required.
	Conditions func() []metav1.Condition
}

// Validate reports everything wrong with the configuration, and each part of a larger one
// that is missing.
func (c *Config) Validate(missing map[string]bool) error {
	var errs []error
	if err := validation.NodeName(c.NodeName); err != nil {
		errs = append(errs, err)
	}
	all := maps.Clone(missing)
	maps.Copy(all, map[string]bool{
		"heartbeat client": c.HeartbeatClient == nil,
		"node informer":    c.Node == nil,
		"event recorder":   c.Recorder == nil,
		"conditions":       c.Conditions == nil,
	})
	return errors.Join(append(errs, validation.Missing(all)...)...)
}
