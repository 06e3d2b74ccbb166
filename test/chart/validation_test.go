// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// Invalid values are refused with a message that names the value.
func TestBadValuesAreRefused(t *testing.T) {
	tests := map[string]struct{ values, want string }{
		"surge":                  {`updateStrategy: {rollingUpdate: {maxSurge: 1}}`, "maxSurge must be 0"},
		"surge in percent":       {`updateStrategy: {rollingUpdate: {maxSurge: 25%}}`, "maxSurge must be 0"},
		"nothing unavailable":    {`updateStrategy: {rollingUpdate: {maxUnavailable: 0}}`, "maxUnavailable must be more than 0"},
		"host's own node name":   {`node: {name: $(HOST_NODE_NAME)}`, "host's own node name"},
		"one name for all":       {`node: {name: vk-sandboxd}`, "/node/name"},
		"name with a quote":      {`node: {name: "$(HOST_NODE_NAME)\" || true || \""}`, "/node/name"},
		"API server as URL":      {`apiServer: {host: "https://api.example.com"}`, "/apiServer/host"},
		"API server with port":   {`apiServer: {host: "api.example.com:443"}`, "/apiServer/host"},
		"API server's port":      {`apiServer: {host: a, port: 70000}`, "/apiServer/port"},
		"kubelet's port":         {`listenAddr: ":10250"`, "10250"},
		"port 0":                 {`listenAddr: ":0"`, "not between 1 and 65535"},
		"port too large":         {`listenAddr: ":70000"`, "not between 1 and 65535"},
		"kubelet's port twice":   {`metrics: {addr: ":10250"}`, "metrics.addr uses port 10250"},
		"one port for two":       {`metrics: {addr: ":10260"}`, "the same port"},
		"no metrics address":     {`metrics: {addr: ""}`, "/metrics/addr"},
		"loopback monitored":     {`metrics: {podMonitor: {enabled: true}}`, "Prometheus cannot reach metrics.addr 127.0.0.1:10261"},
		"localhost monitored":    {`metrics: {addr: "localhost:1", podMonitor: {enabled: true}}`, "cannot reach"},
		"loopback6 monitored":    {`metrics: {addr: "[::1]:1", podMonitor: {enabled: true}}`, "cannot reach"},
		"no IP to listen at":     {`{node: {advertiseIP: false}, metrics: {addr: "$(VK_NODE_IP):1"}}`, "node.advertiseIP"},
		"scrape interval":        {`metrics: {podMonitor: {interval: 30}}`, "/metrics/podMonitor/interval"},
		"runbooks nowhere":       {`metrics: {prometheusRule: {runbookURL: here}}`, "/metrics/prometheusRule/runbookURL"},
		"no port":                {`listenAddr: "127.0.0.1"`, "/listenAddr"},
		"certificate, no key":    {`tls: {certFile: /a}`, "belong together"},
		"key, no certificate":    {`tls: {keyFile: /a}`, "belong together"},
		"two certificates":       {`tls: {existingSecret: a, certFile: /a, keyFile: /b}`, "both set"},
		"two tokens":             {`sandboxd: {token: a, existingSecret: {name: b}}`, "more than one of"},
		"token and token file":   {`sandboxd: {token: a, tokenFile: /b}`, "more than one of"},
		"no IP to advertise":     {`{node: {advertiseIP: false}, sandboxd: {advertiseAddr: "$(VK_NODE_IP):7777"}}`, "node.advertiseIP"},
		"no account":             {`serviceAccount: {create: false}`, "serviceAccount.name"},
		"nothing to route to":    {`{routing: {enabled: true}, node: {labels: {sandbox.cocoonstack.io/runtime: null, a: b}}}`, "in node.labels"},
		"relative state path":    {`state: {path: claims.json}`, "/state/path"},
		"state in the root":      {`state: {path: /claims.json}`, "/state/path"},
		"unknown value":          {`sandboxdUrl: http://x`, "sandboxdUrl"},
		"unknown nested value":   {`sandboxd: {uri: http://x}`, "uri"},
		"log level":              {`log: {level: trace}`, "/log/level"},
		"log format":             {`log: {format: xml}`, "/log/format"},
		"CPU":                    {`node: {cpu: lots}`, "/node/cpu"},
		"ephemeral storage":      {`node: {ephemeralStorage: 0}`, "/node/ephemeralStorage"},
		"interval":               {`inventory: {interval: 30}`, "/inventory/interval"},
		"scan interval":          {`orphanScanInterval: often`, "/orphanScanInterval"},
		"hold without unit":      {`claims: {missingOwnersHold: 60}`, "/claims/missingOwnersHold"},
		"no hold":                {`claims: {missingOwnersHold: 0s}`, "/claims/missingOwnersHold"},
		"grace without unit":     {`claims: {unadoptableGrace: 600}`, "/claims/unadoptableGrace"},
		"warning without unit":   {`claims: {leaseWarning: 3600}`, "/claims/leaseWarning"},
		"URL":                    {`sandboxd: {url: "127.0.0.1:7777"}`, "/sandboxd/url"},
		"digest":                 {`image: {digest: abc}`, "/image/digest"},
		"publish as a string":    {`inventory: {publish: "yes"}`, "/inventory/publish"},
		"label with a comma":     {`node: {labels: {a: "b,c"}}`, "/node/labels"},
		"owner without resource": {`owners: [{apiGroups: [a.b]}]`, "/owners"},
		"no template":            {`test: {template: ""}`, "/test/template"},
		"time of the test":       {`test: {timeout: 120}`, "/test/timeout"},
		"any owner":              {`owners: [{apiGroups: [a.b], resources: ["*"]}]`, "/owners"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if message := renderError(t, install{values: test.values}); !strings.Contains(message, test.want) {
				t.Errorf("error %q does not say %q", message, test.want)
			}
		})
	}
}

// The installation fails if the namespace's Pod security level would refuse every Pod.
func TestNamespacePodSecurity(t *testing.T) {
	tests := map[string]struct{ level, want string }{
		"baseline":   {level: "baseline", want: "enforce=privileged"},
		"restricted": {level: "restricted", want: "enforce=privileged"},
		"privileged": {level: "privileged"},
		"unset":      {},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "sandboxes"}}
			if test.level != "" {
				namespace.Labels = map[string]string{"pod-security.kubernetes.io/enforce": test.level}
			}
			in := install{clients: fakeClients{dynamicfake.NewSimpleDynamicClient(scheme.Scheme, namespace)}}
			if test.want == "" {
				render(t, in)
				return
			}
			if message := renderError(t, in); !strings.Contains(message, test.want) {
				t.Errorf("error %q does not say %q", message, test.want)
			}
		})
	}
}

// A cluster without the API of the routing gets a message that says what to do; without
// the routing it does not need that API.
func TestRoutingNeedsMutatingAdmissionPolicy(t *testing.T) {
	render(t, install{without: mutatingPolicyAPI})
	message := renderError(t, install{without: mutatingPolicyAPI, values: `routing: {enabled: true}`})
	for _, part := range []string{"routing.enabled", "MutatingAdmissionPolicy", "1.36", "routing.enabled=false", "docs/pod-contract.md", "--api-versions " + mutatingPolicyAPI} {
		if !strings.Contains(message, part) {
			t.Errorf("error %q does not say %q", message, part)
		}
	}
}

// fakeClients answers the chart's look-ups.
type fakeClients struct{ client dynamic.Interface }

func (f fakeClients) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	namespaces := f.client.Resource(schema.GroupVersionResource{Version: apiVersion, Resource: strings.ToLower(kind) + "s"})
	return namespaces, false, nil
}
