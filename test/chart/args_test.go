// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// Every flag of the configuration reference except --version has a value that reaches the
// container.
func TestEveryFlagHasAValue(t *testing.T) {
	const absent = "(absent)"
	tests := map[string]struct {
		alone  string // the argument after `helm install` alone
		values string
		want   string // the argument with those values
	}{
		"--listen-addr":             {alone: ":10260", values: `listenAddr: "0.0.0.0:10262"`, want: "0.0.0.0:10262"},
		"--metrics-addr":            {alone: "127.0.0.1:10261", values: `metrics: {addr: "$(VK_NODE_IP):10262"}`, want: "$(VK_NODE_IP):10262"},
		"--enable-pprof":            {alone: "false", values: `metrics: {pprof: true}`, want: "true"},
		"--tls-cert":                {alone: absent, values: `tls: {certFile: /pki/a.crt, keyFile: /pki/a.key}`, want: "/pki/a.crt"},
		"--tls-key":                 {alone: absent, values: `tls: {certFile: /pki/a.crt, keyFile: /pki/a.key}`, want: "/pki/a.key"},
		"--node-cpu":                {alone: "4000", values: `node: {cpu: 12000000}`, want: "12000000"},
		"--node-memory":             {alone: "8Ti", values: `node: {memory: 512Gi}`, want: "512Gi"},
		"--node-ephemeral-storage":  {alone: "16Ti", values: `node: {ephemeralStorage: 2000000000}`, want: "2000000000"},
		"--node-pods":               {alone: "2000", values: `node: {pods: 1000000}`, want: "1000000"},
		"--kube-api-qps":            {alone: "200", values: `kubeAPI: {qps: 1000000}`, want: "1000000"},
		"--kube-api-burst":          {alone: "400", values: `kubeAPI: {burst: 2000000}`, want: "2000000"},
		"--sandboxd-url":            {alone: "http://127.0.0.1:7777", values: `sandboxd: {url: "http://127.0.0.1:7001"}`, want: "http://127.0.0.1:7001"},
		"--sandboxd-advertise-addr": {alone: absent, values: `sandboxd: {advertiseAddr: "$(VK_NODE_IP):7777"}`, want: "$(VK_NODE_IP):7777"},
		"--sandboxd-token-file":     {alone: absent, values: `sandboxd: {tokenFile: /host/token}`, want: "/host/token"},
		"--state-path":              {alone: "/var/lib/vk-sandbox/claims.json", values: `state: {path: /srv/vk/table.json}`, want: "/srv/vk/table.json"},
		"--machine-id-file":         {alone: "/etc/vk-sandbox/machine-id", values: `host: {machineIDFile: ""}`, want: ""},
		"--orphan-scan-interval":    {alone: "60s", values: `orphanScanInterval: 0`, want: "0"},
		"--missing-owners-hold":     {alone: "1h", values: `claims: {missingOwnersHold: 1h30m}`, want: "1h30m"},
		"--unadoptable-grace":       {alone: "10m", values: `claims: {unadoptableGrace: 0}`, want: "0"},
		"--lease-warning":           {alone: "1h", values: `claims: {leaseWarning: 0}`, want: "0"},
		"--claim-status-interval":   {alone: "10s", values: `claimStatus: {interval: 0}`, want: "0"},
		"--publish-inventory":       {alone: "false", values: `inventory: {publish: true}`, want: "true"},
		"--publish-interval":        {alone: "30s", values: `inventory: {interval: 1m30s}`, want: "1m30s"},
		"--node-labels": {
			alone:  "sandbox.cocoonstack.io/runtime=sandboxd",
			values: `node: {labels: {pool: blue}}`, want: "pool=blue,sandbox.cocoonstack.io/runtime=sandboxd",
		},
		"--log-format":         {alone: "text", values: `log: {format: json}`, want: "json"},
		"--disable-pod-events": {alone: "false", values: `disablePodEvents: true`, want: "true"},
	}
	for flag, test := range tests {
		t.Run(flag, func(t *testing.T) {
			if got := argument(t, container(t, render(t, install{})), flag, absent); got != test.alone {
				t.Errorf("alone: %s=%s, want %s", flag, got, test.alone)
			}
			if got := argument(t, container(t, render(t, install{values: test.values})), flag, absent); got != test.want {
				t.Errorf("with %s: %s=%s, want %s", test.values, flag, got, test.want)
			}
		})
	}

	t.Run("no other", func(t *testing.T) {
		everything := `{tls: {existingSecret: a}, sandboxd: {token: x, advertiseAddr: "a:1"}}`
		for _, arg := range container(t, render(t, install{values: everything})).Args {
			flag, _, _ := strings.Cut(arg, "=")
			if _, known := tests[flag]; !known {
				t.Errorf("argument %q is not a flag of the configuration reference", arg)
			}
		}
	})
}

// argument returns the value of a flag, which may occur at most once.
func argument(t *testing.T, c corev1.Container, flag, absent string) string {
	t.Helper()
	found := absent
	for _, arg := range c.Args {
		name, value, _ := strings.Cut(arg, "=")
		if name != flag {
			continue
		}
		if found != absent {
			t.Errorf("%s is given twice: %q", flag, c.Args)
		}
		found = value
	}
	return found
}

func TestNodeLabelCanBeRemoved(t *testing.T) {
	c := container(t, render(t, install{values: `node: {labels: {sandbox.cocoonstack.io/runtime: null, pool: blue}}`}))
	if got := argument(t, c, "--node-labels", ""); got != "pool=blue" {
		t.Errorf("--node-labels=%s, want pool=blue", got)
	}
}

// A flag in extraArgs wins because the last one counts.
func TestExtraArgsComeLast(t *testing.T) {
	c := container(t, render(t, install{values: `extraArgs: ["--state-path=/x/y", "-v=4"]`}))
	if diff := cmp.Diff([]string{"--state-path=/x/y", "-v=4"}, c.Args[len(c.Args)-2:]); diff != "" {
		t.Errorf("last arguments (-want +got):\n%s", diff)
	}
}

// Kubernetes expands $(HOST_NODE_NAME) only where it was declared before.
func TestEnvironment(t *testing.T) {
	field := func(path string) *corev1.EnvVarSource {
		return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
	}
	tests := map[string]struct {
		values string
		want   []corev1.EnvVar
	}{
		"alone": {
			want: []corev1.EnvVar{
				{Name: "HOST_NODE_NAME", ValueFrom: field("spec.nodeName")},
				{Name: "VK_NODE_NAME", Value: "$(HOST_NODE_NAME)-sandboxd"},
				{Name: "VK_NODE_IP", ValueFrom: field("status.hostIP")},
				{Name: "VK_LOG_LEVEL", Value: "info"},
			},
		},
		"all values": {
			values: `{node: {name: "vm.$(HOST_NODE_NAME)", advertiseIP: false}, log: {level: debug}, extraEnv: [{name: A, value: b}]}`,
			want: []corev1.EnvVar{
				{Name: "HOST_NODE_NAME", ValueFrom: field("spec.nodeName")},
				{Name: "VK_NODE_NAME", Value: "vm.$(HOST_NODE_NAME)"},
				{Name: "VK_LOG_LEVEL", Value: "debug"},
				{Name: "A", Value: "b"},
			},
		},
		"API server of its own": {
			values: `{apiServer: {host: api.example.com, port: 443}, node: {advertiseIP: false}}`,
			want: []corev1.EnvVar{
				{Name: "HOST_NODE_NAME", ValueFrom: field("spec.nodeName")},
				{Name: "VK_NODE_NAME", Value: "$(HOST_NODE_NAME)-sandboxd"},
				{Name: "VK_LOG_LEVEL", Value: "info"},
				{Name: "KUBERNETES_SERVICE_HOST", Value: "api.example.com"},
				{Name: "KUBERNETES_SERVICE_PORT", Value: "443"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := container(t, render(t, install{values: test.values}))
			if diff := cmp.Diff(test.want, c.Env); diff != "" {
				t.Errorf("env (-want +got):\n%s", diff)
			}
		})
	}
}
