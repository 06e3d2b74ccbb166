// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"net"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
)

// options are all settings, parsed and checked.
type options struct {
	nodeName   string
	nodeIP     net.IP
	nodeLabels map[string]string
	nodeCPU    resource.Quantity
	nodeMemory resource.Quantity
	nodePods   resource.Quantity

	listenAddr string
	tlsCert    string
	tlsKey     string

	kubeAPIQPS       float64
	kubeAPIBurst     int
	disablePodEvents bool

	sandboxdURL           string
	sandboxdAdvertiseAddr string
	sandboxdTokenFile     string

	statePath          string
	machineIDFile      string
	orphanScanInterval time.Duration
	missingOwnersHold  time.Duration

	claimStatusInterval time.Duration

	publishInventory bool
	publishInterval  time.Duration

	metricsAddr string
	enablePprof bool

	logLevel  slog.Level
	logFormat string

	version bool
	help    bool

	// origins has the environment variable that a flag's value came from.
	origins map[string]string
}

// origin names where the value of a flag came from, for error messages.
func (o *options) origin(flag string) string {
	if env := o.origins[flag]; env != "" {
		return "--" + flag + " (from " + env + ")"
	}
	return "--" + flag
}

// setting is one flag with its environment variable. A setting without a flag
// has the environment variable only, and one without a variable the flag only.
type setting struct {
	group, flag, env string
	// fallback is the default in the words of the configuration document.
	fallback string
	usage    string
	value    pflag.Value
}

// Groups of flags in the help text, in order.
const (
	groupNode      = "Virtual node"
	groupKubelet   = "Kubelet API"
	groupKube      = "Kubernetes API"
	groupSandboxd  = "sandboxd"
	groupState     = "Claims"
	groupInventory = "Inventory"
	groupMetrics   = "Metrics and health"
	groupLog       = "Logging and information"
)

// settings lists every setting of the configuration document, and those that
// are additions: --log-format, --claim-status-interval, --machine-id-file,
// --missing-owners-hold, --metrics-addr and --enable-pprof. Each writes into o.
func settings(o *options) []setting {
	return []setting{
		{groupNode, "node-name", "VK_NODE_NAME", "vk-sandboxd",
			"name of the virtual node; differs from the host's own node and from any other virtual node", bind(&o.nodeName, "name", parseNodeName)},
		{groupNode, "node-ip", "VK_NODE_IP", "",
			"InternalIP that the node advertises; empty leaves it out", bind(&o.nodeIP, "ip", parseIP)},
		{groupNode, "node-labels", "", "sandbox.cocoonstack.io/runtime=sandboxd",
			"extra node labels, separated by commas", bind(&o.nodeLabels, "key=value,...", parseLabels)},
		{groupNode, "node-cpu", "VK_NODE_CPU", "4000",
			"CPU that the node advertises, a scheduling budget", bind(&o.nodeCPU, "quantity", parseQuantity)},
		{groupNode, "node-memory", "VK_NODE_MEMORY", "8Ti",
			"memory that the node advertises, a scheduling budget", bind(&o.nodeMemory, "quantity", parseQuantity)},
		{groupNode, "node-pods", "VK_NODE_PODS", "2000",
			"most Pods on the node", bind(&o.nodePods, "quantity", parseWholeQuantity)},

		{groupKubelet, "listen-addr", "VK_LISTEN_ADDR", ":10260",
			"address of the kubelet API; its port is published in the Node", bind(&o.listenAddr, "[host]:port", parseListenAddr)},
		{groupKubelet, "tls-cert", "VK_TLS_CERT", "",
			"certificate of the kubelet API; without a pair of regular files it signs its own", bind(&o.tlsCert, "file", parseText)},
		{groupKubelet, "tls-key", "VK_TLS_KEY", "",
			"key of the kubelet API's certificate", bind(&o.tlsKey, "file", parseText)},

		{groupKube, "kube-api-qps", "", "200",
			"requests per second to the API server, and rate of each pod queue", bind(&o.kubeAPIQPS, "rate", parseRate)},
		{groupKube, "kube-api-burst", "", "400",
			"burst on top of --kube-api-qps", bind(&o.kubeAPIBurst, "number", parseBurst)},
		{groupKube, "disable-pod-events", "", "false",
			"drop the pod controller's Normal events; warnings are kept", bind(&o.disablePodEvents, "bool", parseBool)},

		{groupSandboxd, "sandboxd-url", "SANDBOXD_URL", "http://127.0.0.1:7777",
			"base URL of the host's sandboxd", bind(&o.sandboxdURL, "url", parseURL)},
		{groupSandboxd, "sandboxd-token-file", "SANDBOXD_TOKEN_FILE", "",
			"file with the sandboxd node API token", bind(&o.sandboxdTokenFile, "file", parseText)},
		{groupSandboxd, "sandboxd-advertise-addr", "SANDBOXD_ADVERTISE_ADDR", "",
			"host:port of sandboxd in the inventory, for claims from elsewhere (default: that of --sandboxd-url)", bind(&o.sandboxdAdvertiseAddr, "host:port", parseAdvertiseAddr)},

		{groupState, "state-path", "VK_STATE_PATH", "/var/lib/vk-sandbox/claims.json",
			"file that keeps the claims table; it holds release tokens", bind(&o.statePath, "file", parseStatePath)},
		{groupState, "machine-id-file", "VK_MACHINE_ID_FILE", "/etc/machine-id",
			"file that identifies the host, which the claims table belongs to; empty (flag only) does not check the host", bind(&o.machineIDFile, "file", parseText)},
		{groupState, "orphan-scan-interval", "", "60s",
			"time between two audits of sandboxd's index, which only report; 0 for none", bind(&o.orphanScanInterval, "duration", parseInterval)},
		{groupState, "missing-owners-hold", "", "1h",
			"how long several claims are kept whose Pods and owners went missing together without a deletion having been seen, as after the restore of an older backup", bind(&o.missingOwnersHold, "duration", parsePositiveInterval)},
		{groupState, "claim-status-interval", "", "10s",
			"least time between two publications of the node's NodeClaimStatus, which is written when something changes; 0 for none", bind(&o.claimStatusInterval, "duration", parseInterval)},

		{groupInventory, "publish-inventory", "", "false",
			"publish this node's NodeInventory", bind(&o.publishInventory, "bool", parseBool)},
		{groupInventory, "publish-interval", "", "30s",
			"time between two publications; below the aggregated API server's --inventory-stale-after", bind(&o.publishInterval, "duration", parsePositiveInterval)},

		{groupMetrics, "metrics-addr", "VK_METRICS_ADDR", "127.0.0.1:10261",
			"address of /metrics, /healthz and /readyz, without TLS or credentials; 0 or empty for none", bind(&o.metricsAddr, "[host]:port", parseMetricsAddr)},
		{groupMetrics, "enable-pprof", "", "false",
			"serve Go profiles at --metrics-addr, under /debug/pprof/", bind(&o.enablePprof, "bool", parseBool)},

		{groupLog, "", "VK_LOG_LEVEL", "info",
			"log level: debug, info, warn or error", bind(&o.logLevel, "level", parseLogLevel)},
		{groupLog, "log-format", "VK_LOG_FORMAT", formatText,
			"log format: text or json", bind(&o.logFormat, "format", parseLogFormat)},
		{groupLog, "version", "", "false",
			"print the build version and exit", bind(&o.version, "bool", parseBool)},
		{groupLog, "help", "", "false",
			"print this text and exit", bind(&o.help, "bool", parseBool)},
	}
}
