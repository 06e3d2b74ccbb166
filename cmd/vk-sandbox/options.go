// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
	"github.com/cocoonstack/vk-sandbox/pkg/virtualnode/nodeobject"
)

const (
	defaultStatePath = "/var/lib/vk-sandbox/claims.json"
	// logLevelVariable has no flag.
	logLevelVariable = "VK_LOG_LEVEL"
)

// variables maps a flag to the environment variable that is read without the flag.
func variables() map[string]string {
	return map[string]string{
		"node-name":               "VK_NODE_NAME",
		"node-ip":                 "VK_NODE_IP",
		"node-cpu":                "VK_NODE_CPU",
		"node-memory":             "VK_NODE_MEMORY",
		"node-ephemeral-storage":  "VK_NODE_EPHEMERAL_STORAGE",
		"node-pods":               "VK_NODE_PODS",
		"listen-addr":             "VK_LISTEN_ADDR",
		"tls-cert":                "VK_TLS_CERT",
		"tls-key":                 "VK_TLS_KEY",
		"sandboxd-url":            "SANDBOXD_URL",
		"sandboxd-token-file":     "SANDBOXD_TOKEN_FILE",
		"sandboxd-advertise-addr": "SANDBOXD_ADVERTISE_ADDR",
		"state-path":              "VK_STATE_PATH",
		"machine-id-file":         "VK_MACHINE_ID_FILE",
		"metrics-addr":            "VK_METRICS_ADDR",
		"log-format":              "VK_LOG_FORMAT",
	}
}

// options are the settings of the daemon.
type options struct {
	nodeName             string
	nodeIP               net.IP
	nodeLabels           program.Labels
	nodeCPU              resource.QuantityValue
	nodeMemory           resource.QuantityValue
	nodeEphemeralStorage resource.QuantityValue
	nodePods             resource.QuantityValue

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
	unadoptableGrace   time.Duration
	leaseWarning       time.Duration

	claimStatusInterval time.Duration

	publishInventory bool
	publishInterval  time.Duration

	metricsAddr string
	enablePprof bool

	logLevel  slog.Level
	logFormat string
	verbosity int

	version bool

	origins program.Origins
}

// origin names where the value of a flag came from, for error messages.
func (o *options) origin(flag string) string { return o.origins.Of(flag) }

// flags returns the flags, which set o, in the sections of the help text.
func (o *options) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("Virtual node")
	fs.StringVar(&o.nodeName, "node-name", "vk-sandboxd",
		"`name` of the virtual node; no other node may have it")
	fs.IPVar(&o.nodeIP, "node-ip", nil, "InternalIP of the node")
	fs.Var(&o.nodeLabels, "node-labels", "more labels of the node, separated by commas")
	program.SetDefault(fs, "node-labels", "sandbox.cocoonstack.io/runtime=sandboxd")
	fs.Var(&o.nodeCPU, "node-cpu", "CPU of the node, a scheduling budget")
	program.SetDefault(fs, "node-cpu", "4000")
	fs.Var(&o.nodeMemory, "node-memory", "memory of the node, a scheduling budget")
	program.SetDefault(fs, "node-memory", "8Ti")
	fs.Var(&o.nodeEphemeralStorage, "node-ephemeral-storage", "ephemeral storage of the node, a scheduling budget")
	program.SetDefault(fs, "node-ephemeral-storage", "16Ti")
	fs.Var(&o.nodePods, "node-pods", "most Pods on the node")
	program.SetDefault(fs, "node-pods", "2000")

	fs = sections.FlagSet("Kubelet API")
	fs.StringVar(&o.listenAddr, "listen-addr", ":10260", "`address` of the kubelet API")
	fs.StringVar(&o.tlsCert, "tls-cert", "", "`certificate` of the kubelet API (default: self-signed)")
	fs.StringVar(&o.tlsKey, "tls-key", "", "`key` of that certificate")

	fs = sections.FlagSet("Kubernetes API")
	fs.Float64Var(&o.kubeAPIQPS, "kube-api-qps", 200, "requests per second to the API server, and `rate` of each pod queue")
	fs.IntVar(&o.kubeAPIBurst, "kube-api-burst", 400, "burst on top of --kube-api-qps")
	fs.BoolVar(&o.disablePodEvents, "disable-pod-events", false, "drop the pod controller's Normal events; warnings are kept")

	fs = sections.FlagSet("sandboxd")
	fs.StringVar(&o.sandboxdURL, "sandboxd-url", "http://127.0.0.1:7777", "base `URL` of the host's sandboxd")
	fs.StringVar(&o.sandboxdTokenFile, "sandboxd-token-file", "", "`file` with sandboxd's node API token")
	fs.StringVar(&o.sandboxdAdvertiseAddr, "sandboxd-advertise-addr", "",
		"`host:port` of sandboxd in the inventory (default: that of --sandboxd-url)")

	fs = sections.FlagSet("Claims")
	fs.StringVar(&o.statePath, "state-path", defaultStatePath, "`file` of the claims table, which holds release tokens")
	fs.StringVar(&o.machineIDFile, "machine-id-file", "/etc/machine-id",
		"`file` that identifies the table's host; empty (flag only): the host is not checked")
	fs.DurationVar(&o.orphanScanInterval, "orphan-scan-interval", 0,
		"time between two scans for orphans, which only report; 0 for none")
	program.SetDefault(fs, "orphan-scan-interval", "60s")
	fs.DurationVar(&o.missingOwnersHold, "missing-owners-hold", 0,
		"how long claims are held if several lost their Pods and owners together")
	program.SetDefault(fs, "missing-owners-hold", "1h")
	fs.DurationVar(&o.unadoptableGrace, "unadoptable-grace", 0,
		"how long to keep claims that no Pod can adopt; 0: as long as all others")
	program.SetDefault(fs, "unadoptable-grace", "10m")
	fs.DurationVar(&o.leaseWarning, "lease-warning", 0,
		"how long before its end the lease of a running Pod is warned of, at most a quarter of the lease; 0 for never")
	program.SetDefault(fs, "lease-warning", "1h")
	fs.DurationVar(&o.claimStatusInterval, "claim-status-interval", 10*time.Second,
		"least time between two writes of the NodeClaimStatus; 0 for none")

	fs = sections.FlagSet("Inventory")
	fs.BoolVar(&o.publishInventory, "publish-inventory", false, "publish this node's NodeInventory")
	fs.DurationVar(&o.publishInterval, "publish-interval", 30*time.Second,
		"time between two publications; below the aggregated API server's --inventory-stale-after")

	fs = sections.FlagSet("Metrics and health")
	fs.StringVar(&o.metricsAddr, "metrics-addr", "127.0.0.1:10261",
		"`address` of /metrics, /healthz and /readyz, without TLS or credentials; 0 or empty for none")
	fs.BoolVar(&o.enablePprof, "enable-pprof", false, "serve Go profiles at --metrics-addr, under /debug/pprof/")

	fs = sections.FlagSet("Logging and information")
	fs.StringVar(&o.logFormat, "log-format", program.LogText, "log `format`: text or json")
	fs.IntVarP(&o.verbosity, "v", "v", 0, "verbosity of the log, on top of VK_LOG_LEVEL: 4 is debug, more adds the libraries")
	fs.BoolVar(&o.version, "version", false, "print the build version and exit")
	return sections
}

// finish reads the environment for flags that were not given, and validates the options.
// The error lists everything that is wrong.
func (o *options) finish(flags *pflag.FlagSet, getenv func(string) string) error {
	var unread, level error
	o.origins, unread = program.ReadEnvironment(flags, variables(), getenv)
	if text := getenv(logLevelVariable); text != "" {
		if o.logLevel, level = program.ParseLogLevel(text); level != nil {
			level = fmt.Errorf("invalid value %q of %s: %w", text, logLevelVariable, level)
		}
	}
	if o.metricsAddr == "0" {
		o.metricsAddr = ""
	}
	if err := errors.Join(unread, level, o.validate()); err != nil {
		return err
	}
	if o.verbosity > 0 {
		o.logLevel = min(o.logLevel, slog.Level(-o.verbosity))
	}
	if o.sandboxdAdvertiseAddr == "" {
		o.sandboxdAdvertiseAddr = hostPort(o.sandboxdURL)
	}
	return nil
}

func (o *options) validate() error {
	v := program.Validation{Origins: o.origins}
	v.Check("node-name", o.nodeName, checkNodeName(o.nodeName))
	if o.nodeIP != nil && o.nodeIP.IsUnspecified() {
		v.Check("node-ip", o.nodeIP.String(), errors.New("the unspecified address reaches nobody; want the host's own"))
	}
	fixed := nodeobject.FixedLabels(o.nodeName)
	for _, key := range slices.Sorted(maps.Keys(fixed)) {
		if given, ok := o.nodeLabels[key]; ok && given != fixed[key] {
			v.Fail("node-labels", fmt.Errorf("the node's label %s is always %q, not %q; leave it out", key, fixed[key], given))
		}
	}
	v.Check("node-cpu", o.nodeCPU.String(), checkCapacity(o.nodeCPU))
	v.Check("node-memory", o.nodeMemory.String(), checkCapacity(o.nodeMemory))
	v.Check("node-ephemeral-storage", o.nodeEphemeralStorage.String(), checkCapacity(o.nodeEphemeralStorage))
	v.Check("node-pods", o.nodePods.String(), checkCapacity(o.nodePods))
	if o.nodePods.CmpInt64(o.nodePods.Value()) != 0 { // Value rounds up
		v.Check("node-pods", o.nodePods.String(), errors.New("must be a whole number"))
	}
	v.Check("listen-addr", o.listenAddr, program.CheckListenAddr(o.listenAddr))
	v.Check("kube-api-qps", fmt.Sprint(o.kubeAPIQPS), checkRate(o.kubeAPIQPS))
	if o.kubeAPIBurst <= 0 {
		v.Check("kube-api-burst", fmt.Sprint(o.kubeAPIBurst), errors.New("must be above zero"))
	}
	if err := checkURL(o.sandboxdURL); strings.ContainsAny(o.sandboxdURL, "@?#") && err != nil {
		v.Fail("sandboxd-url", err) // without the URL, which may contain a secret
	} else {
		v.Check("sandboxd-url", o.sandboxdURL, err)
	}
	if o.sandboxdAdvertiseAddr != "" {
		v.Check("sandboxd-advertise-addr", o.sandboxdAdvertiseAddr, program.CheckHostPort(o.sandboxdAdvertiseAddr))
	}
	v.Check("state-path", o.statePath, checkStatePath(o.statePath))
	v.Check("orphan-scan-interval", o.orphanScanInterval.String(), program.CheckNotNegative(o.orphanScanInterval))
	v.Check("missing-owners-hold", o.missingOwnersHold.String(), program.CheckPositive(o.missingOwnersHold))
	v.Check("unadoptable-grace", o.unadoptableGrace.String(), program.CheckNotNegative(o.unadoptableGrace))
	v.Check("lease-warning", o.leaseWarning.String(), program.CheckNotNegative(o.leaseWarning))
	v.Check("claim-status-interval", o.claimStatusInterval.String(), program.CheckNotNegative(o.claimStatusInterval))
	v.Check("publish-interval", o.publishInterval.String(), program.CheckPositive(o.publishInterval))
	if o.metricsAddr != "" {
		v.Check("metrics-addr", o.metricsAddr, program.CheckListenAddr(o.metricsAddr))
	} else if o.enablePprof {
		v.Fail("enable-pprof", fmt.Errorf("profiles are served at --metrics-addr; give %s an address", o.origin("metrics-addr")))
	}
	v.Check("log-format", o.logFormat, program.CheckLogFormat(o.logFormat))
	if o.verbosity < 0 {
		v.Check("v", fmt.Sprint(o.verbosity), errors.New("must not be negative"))
	}
	return v.Err()
}

// checkNodeName checks that a name is valid for the Node and for its hostname label.
func checkNodeName(name string) error {
	problems := validation.IsDNS1123Subdomain(name)
	if len(name) > validation.LabelValueMaxLength {
		problems = append(problems, fmt.Sprintf("the node's kubernetes.io/hostname label takes at most %d characters and this name has %d",
			validation.LabelValueMaxLength, len(name)))
	}
	return program.Joined(problems)
}

func checkCapacity(q resource.QuantityValue) error {
	if q.Sign() <= 0 {
		return errors.New("must be above zero: the scheduler rejects every Pod on a node without capacity")
	}
	return nil
}

func checkRate(rate float64) error {
	switch {
	case math.IsNaN(rate) || math.Abs(rate) > math.MaxFloat32:
		return errors.New("want a number of requests per second")
	case rate <= 0:
		return errors.New("must be above zero")
	}
	return nil
}

// checkURL checks that a URL is a base URL without a secret, because it is logged. The
// error does not contain the URL.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil && strings.Contains(text, "@") || err == nil && u.User != nil:
		return errors.New("must not carry credentials; the token belongs in --sandboxd-token-file")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return errors.New("want http://host:port or https://host:port")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("is a base URL and takes no query or fragment")
	}
	return nil
}

// hostPort is the host:port of a valid URL.
func hostPort(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func checkStatePath(path string) error {
	if path == "" {
		return errors.New("a path is required: without a durable claims table every restart would leak a microVM per claim")
	}
	return nil
}
