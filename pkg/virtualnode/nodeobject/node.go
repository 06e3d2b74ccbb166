// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package nodeobject

import (
	"maps"
	"runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"

	"github.com/cocoonstack/vk-sandbox/pkg/podcontract"
)

const (
	labelType     = "type"
	labelTypeVK   = "virtual-kubelet"
	labelRole     = "kubernetes.io/role"
	labelRoleName = "agent"
)

// FixedLabels returns the labels that the node always has. kubernetes.io/os is
// deliberately missing: it would attract the DaemonSets that tolerate every taint and
// select by it.
func FixedLabels(nodeName string) map[string]string {
	return map[string]string{
		labelType:            labelTypeVK,
		labelRole:            labelRoleName,
		corev1.LabelHostname: nodeName,
		// No Service traffic can be delivered through this node.
		corev1.LabelNodeExcludeBalancers: "true",
	}
}

// providerTaint keeps ordinary workloads off the node.
func providerTaint() corev1.Taint {
	return corev1.Taint{Key: podcontract.TaintKey, Value: podcontract.TaintValue, Effect: corev1.TaintEffectNoSchedule}
}

// newNode returns the Node for registration. port is that of the kubelet API.
func newNode(c *Config, port int32, own []metav1.Condition, now time.Time) *corev1.Node {
	labels := maps.Clone(c.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, FixedLabels(c.NodeName))

	var addresses []corev1.NodeAddress
	if c.NodeIP != nil {
		addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: c.NodeIP.String()})
	}
	addresses = append(addresses, corev1.NodeAddress{Type: corev1.NodeHostName, Address: c.NodeName})

	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              c.CPU,
		corev1.ResourceMemory:           c.Memory,
		corev1.ResourceEphemeralStorage: c.EphemeralStorage,
		corev1.ResourcePods:             c.MaxPods,
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: c.NodeName, Labels: labels},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{providerTaint()}},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity.DeepCopy(),
			Conditions:  nodeConditions(own, metav1.NewTime(now)),
			Addresses:   addresses,
			DaemonEndpoints: corev1.NodeDaemonEndpoints{
				KubeletEndpoint: corev1.DaemonEndpoint{Port: port},
			},
			NodeInfo: corev1.NodeSystemInfo{
				KubeletVersion:          kubeletVersion(c.Version),
				ContainerRuntimeVersion: "sandboxd://v1",
				OperatingSystem:         runtime.GOOS,
				Architecture:            runtime.GOARCH,
			},
		},
	}
}

// kubeletVersion names this build as semantic-version metadata of the
// Kubernetes version it is built against, so that tools which parse a node's
// kubelet version for skew still can.
func kubeletVersion(build string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '.':
			return r
		}
		return '.'
	}, build)
	if name == "" {
		name = "unknown"
	}
	return "v" + version.DefaultKubeBinaryVersion + ".0+vk-sandbox." + name
}
