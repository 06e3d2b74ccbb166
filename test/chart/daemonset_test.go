// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestPodUsesHostNetworkAndState(t *testing.T) {
	rendered := render(t, install{})
	spec, c := podSpec(t, rendered), container(t, rendered)
	directoryOrCreate, file := corev1.HostPathDirectoryOrCreate, corev1.HostPathFile
	check(t, "hostNetwork", true, spec.HostNetwork)
	check(t, "dnsPolicy", corev1.DNSClusterFirstWithHostNet, spec.DNSPolicy)
	check(t, "priorityClassName", "system-node-critical", spec.PriorityClassName)
	check(t, "terminationGracePeriodSeconds", 90, *spec.TerminationGracePeriodSeconds)
	check(t, "terminationMessagePolicy", corev1.TerminationMessageFallbackToLogsOnError, c.TerminationMessagePolicy)
	check(t, "default container", "vk-sandbox", daemonSet(t, rendered).Spec.Template.Annotations["kubectl.kubernetes.io/default-container"])
	check(t, "volumes", []corev1.Volume{{Name: "state", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/vk-sandbox", Type: &directoryOrCreate},
	}}, {Name: "machine-id", VolumeSource: corev1.VolumeSource{
		HostPath: &corev1.HostPathVolumeSource{Path: "/etc/machine-id", Type: &file},
	}}}, spec.Volumes)
	check(t, "volume mounts", []corev1.VolumeMount{
		{Name: "state", MountPath: "/var/lib/vk-sandbox"}, {Name: "machine-id", MountPath: "/etc/vk-sandbox/machine-id", ReadOnly: true},
	}, c.VolumeMounts)
	check(t, "ports", []corev1.ContainerPort{{
		Name: "kubelet-api", ContainerPort: 10260, HostPort: 10260, Protocol: corev1.ProtocolTCP,
	}, {
		Name: "metrics", ContainerPort: 10261, HostPort: 10261, Protocol: corev1.ProtocolTCP,
	}}, c.Ports)
}

func check[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// The state volume must follow the path of the table.
func TestStateDirectoryFollowsThePath(t *testing.T) {
	rendered := render(t, install{values: `state: {path: /srv/a/b/table.json}`})
	check(t, "hostPath", "/srv/a/b", podSpec(t, rendered).Volumes[0].HostPath.Path)
	check(t, "mountPath", "/srv/a/b", container(t, rendered).VolumeMounts[0].MountPath)
}

// The file with the host's identity is mounted from its path on the host, or not at all.
func TestMachineID(t *testing.T) {
	rendered := render(t, install{values: `host: {machineIDFile: /srv/host-id}`})
	check(t, "hostPath", "/srv/host-id", podSpec(t, rendered).Volumes[1].HostPath.Path)
	check(t, "mountPath", "/etc/vk-sandbox/machine-id", container(t, rendered).VolumeMounts[1].MountPath)
	rendered = render(t, install{values: `host: {machineIDFile: ""}`})
	check(t, "volumes without it", 1, len(podSpec(t, rendered).Volumes))
	check(t, "volume mounts without it", 1, len(container(t, rendered).VolumeMounts))
}

// The strictest settings that hostNetwork, hostPath and root allow.
func TestSecurityContext(t *testing.T) {
	rendered := render(t, install{})
	yes, no, root := true, false, int64(0)
	check(t, "Pod", &corev1.PodSecurityContext{
		RunAsUser: &root, RunAsGroup: &root,
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}, podSpec(t, rendered).SecurityContext)
	check(t, "container", &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}, container(t, rendered).SecurityContext)
}

func TestProbes(t *testing.T) {
	tests := map[string]struct{ values, host, port string }{
		"alone":              {host: "127.0.0.1", port: "10261"},
		"one of loopback":    {values: `metrics: {addr: "[::1]:10999"}`, host: "::1", port: "10999"},
		"other port":         {values: `metrics: {addr: ":10999"}`, host: "127.0.0.1", port: "10999"},
		"all IPv4 addresses": {values: `metrics: {addr: "0.0.0.0:10999"}`, host: "127.0.0.1", port: "10999"},
		"all addresses":      {values: `metrics: {addr: "[::]:10999"}`, host: "127.0.0.1", port: "10999"},
		"one address":        {values: `metrics: {addr: "192.0.2.7:10999"}`, host: "192.0.2.7", port: "10999"},
		"one IPv6 address":   {values: `metrics: {addr: "[2001:db8::7]:10999"}`, host: "2001:db8::7", port: "10999"},
		// Without a host the kubelet asks the Pod's address, which is the host's.
		"host's address": {values: `metrics: {addr: "$(VK_NODE_IP):10999"}`, host: "", port: "10999"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := container(t, render(t, install{values: test.values}))
			for path, probe := range map[string][]*corev1.Probe{
				"/healthz": {c.StartupProbe, c.LivenessProbe}, "/readyz": {c.ReadinessProbe},
			} {
				for _, p := range probe {
					check(t, "probe", &corev1.HTTPGetAction{
						Path: path, Host: test.host, Port: intstr.Parse(test.port), Scheme: corev1.URISchemeHTTP,
					}, p.HTTPGet)
				}
			}
			check(t, "declared port", intstr.Parse(test.port).IntVal, c.Ports[1].ContainerPort)
		})
	}
}

// The daemon may have to wait for its predecessor, which has 90 s to stop.
func TestStartupProbeOutlastsThePredecessor(t *testing.T) {
	rendered := render(t, install{})
	probe := container(t, rendered).StartupProbe
	patience := int64(probe.PeriodSeconds * probe.FailureThreshold)
	if grace := *podSpec(t, rendered).TerminationGracePeriodSeconds; patience < 2*grace {
		t.Errorf("startup probe gives up after %d s; the predecessor may take %d s to end", patience, grace)
	}
}

func TestUpdateStrategy(t *testing.T) {
	zero, one, quarter := intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("25%")
	rolling := func(unavailable intstr.IntOrString) appsv1.DaemonSetUpdateStrategy {
		return appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{
			MaxUnavailable: &unavailable, MaxSurge: &zero,
		}}
	}
	tests := map[string]struct {
		values string
		want   appsv1.DaemonSetUpdateStrategy
	}{
		"alone":    {want: rolling(one)},
		"quarter":  {values: `updateStrategy: {rollingUpdate: {maxUnavailable: 25%}}`, want: rolling(quarter)},
		"OnDelete": {values: `updateStrategy: {type: OnDelete}`, want: appsv1.DaemonSetUpdateStrategy{Type: appsv1.OnDeleteDaemonSetStrategyType}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check(t, "updateStrategy", test.want, daemonSet(t, render(t, install{values: test.values})).Spec.UpdateStrategy)
		})
	}
}

func TestImage(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a1", 32)
	tests := map[string]struct{ values, want string }{
		"alone":           {want: "ghcr.io/cocoonstack/vk-sandbox:" + loadChart(t).AppVersion()},
		"tag":             {values: `image: {repository: r/i, tag: v9}`, want: "r/i:v9"},
		"digest wins":     {values: `image: {repository: r/i, tag: v9, digest: "` + digest + `"}`, want: "r/i@" + digest},
		"numeric-ish tag": {values: `image: {repository: r/i, tag: "20260101"}`, want: "r/i:20260101"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			check(t, "image", test.want, container(t, render(t, install{values: test.values})).Image)
		})
	}
}
