// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// A daemon Pod on a virtual node would never run. No toleration and no affinity may allow
// the scheduler to place it there.
func TestVirtualNodesAreExcluded(t *testing.T) {
	exclude := corev1.NodeSelectorRequirement{Key: "type", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"virtual-kubelet"}}
	zone := corev1.NodeSelectorRequirement{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}
	rack := corev1.NodeSelectorRequirement{Key: "rack", Operator: corev1.NodeSelectorOpExists}
	tests := map[string]struct {
		values string
		want   []corev1.NodeSelectorTerm
	}{
		"alone":               {want: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{exclude}}}},
		"tolerate everything": {values: `tolerations: [{operator: Exists}]`, want: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{exclude}}}},
		"terms of the user": {
			values: `
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: In, values: [a]}]
        - matchExpressions: [{key: rack, operator: Exists}]
        - matchFields: [{key: metadata.name, operator: In, values: [host-07]}]
`,
			want: []corev1.NodeSelectorTerm{
				{MatchExpressions: []corev1.NodeSelectorRequirement{zone, exclude}},
				{MatchExpressions: []corev1.NodeSelectorRequirement{rack, exclude}},
				{
					MatchExpressions: []corev1.NodeSelectorRequirement{exclude},
					MatchFields:      []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"host-07"}}},
				},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := podSpec(t, render(t, install{values: test.values}))
			check(t, "terms", test.want, spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
		})
	}
}

func TestPlacement(t *testing.T) {
	spec := podSpec(t, render(t, install{values: `
nodeSelector: {sandboxd: "true"}
tolerations: [{key: dedicated, operator: Equal, value: sandboxes, effect: NoSchedule}]
priorityClassName: ""
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {a: b}}}
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 5, preference: {matchExpressions: [{key: zone, operator: Exists}]}}
`}))
	check(t, "nodeSelector", map[string]string{"kubernetes.io/os": "linux", "sandboxd": "true"}, spec.NodeSelector)
	check(t, "tolerations", []corev1.Toleration{{
		Key: "dedicated", Operator: corev1.TolerationOpEqual, Value: "sandboxes", Effect: corev1.TaintEffectNoSchedule,
	}}, spec.Tolerations)
	check(t, "priorityClassName", "", spec.PriorityClassName)
	check(t, "anti-affinity is kept", 1, len(spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution))
	check(t, "preference is kept", 1, len(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution))
}

func TestExtrasReachThePod(t *testing.T) {
	rendered := render(t, install{values: `
imagePullSecrets: [{name: pull}]
extraVolumes: [{name: host-token, hostPath: {path: /etc/sandboxd, type: Directory}}]
extraVolumeMounts: [{name: host-token, mountPath: /host, readOnly: true}]
sandboxd: {tokenFile: /host/token}
tls: {existingSecret: kubelet-cert}
terminationGracePeriodSeconds: 200
resources: {limits: {memory: 1Gi}}
image: {pullPolicy: Never}
`})
	spec, c := podSpec(t, rendered), container(t, rendered)
	check(t, "pull secrets", []corev1.LocalObjectReference{{Name: "pull"}}, spec.ImagePullSecrets)
	check(t, "pull policy", corev1.PullNever, c.ImagePullPolicy)
	check(t, "grace", 200, *spec.TerminationGracePeriodSeconds)
	check(t, "memory limit", "1Gi", c.Resources.Limits.Memory().String())
	names := map[string]corev1.Volume{}
	for _, volume := range spec.Volumes {
		names[volume.Name] = volume
	}
	check(t, "extra volume", "/etc/sandboxd", names["host-token"].HostPath.Path)
	check(t, "certificate Secret", "kubelet-cert", names["tls"].Secret.SecretName)
	check(t, "certificate mode", 0o400, *names["tls"].Secret.DefaultMode)
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		mounts[mount.Name] = mount.MountPath
	}
	check(t, "mounts", map[string]string{
		"state": "/var/lib/vk-sandbox", "machine-id": "/etc/vk-sandbox/machine-id", "host-token": "/host", "tls": "/etc/vk-sandbox/tls",
	}, mounts)
	check(t, "--tls-cert", "/etc/vk-sandbox/tls/tls.crt", argument(t, c, "--tls-cert", ""))
	check(t, "--tls-key", "/etc/vk-sandbox/tls/tls.key", argument(t, c, "--tls-key", ""))
}
