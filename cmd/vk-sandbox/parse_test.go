// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

func environment(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// parse returns the options that the daemon is started with, or what is printed instead.
func parse(args []string, getenv func(string) string) (o *options, err error) {
	root := newCommand(getenv, func(_ *cobra.Command, started *options) error {
		o = started
		return nil
	})
	var stderr bytes.Buffer
	if code := program.Run(context.Background(), root, args, io.Discard, &stderr); code != program.ExitOK {
		return nil, errors.New(stderr.String())
	}
	return o, nil
}

func quantity(text string) resource.QuantityValue {
	return resource.QuantityValue{Quantity: resource.MustParse(text)}
}

func defaults() *options {
	return &options{
		nodeName:              "vk-sandboxd",
		nodeLabels:            program.Labels{"sandbox.cocoonstack.io/runtime": "sandboxd"},
		nodeCPU:               quantity("4000"),
		nodeMemory:            quantity("8Ti"),
		nodeEphemeralStorage:  quantity("16Ti"),
		nodePods:              quantity("2000"),
		listenAddr:            ":10260",
		kubeAPIQPS:            200,
		kubeAPIBurst:          400,
		sandboxdURL:           "http://127.0.0.1:7777",
		sandboxdAdvertiseAddr: "127.0.0.1:7777",
		statePath:             "/var/lib/vk-sandbox/claims.json",
		machineIDFile:         "/etc/machine-id",
		orphanScanInterval:    60 * time.Second,
		missingOwnersHold:     time.Hour,
		unadoptableGrace:      10 * time.Minute,
		leaseWarning:          time.Hour,
		claimStatusInterval:   10 * time.Second,
		publishInterval:       30 * time.Second,
		metricsAddr:           "127.0.0.1:10261",
		logLevel:              slog.LevelInfo,
		logFormat:             "text",
		origins:               program.Origins{},
	}
}

func diffOptions(want, got *options) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(options{}))
}

func TestDefaults(t *testing.T) {
	got, err := parse(nil, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffOptions(defaults(), got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// Every setting: the flag is taken, the variable is taken, and the flag wins.
func TestPrecedence(t *testing.T) {
	for name, tc := range map[string]struct {
		flag, byFlag string
		env, byEnv   string
		set          func(o *options, fromFlag bool)
	}{
		"node name": {"node-name", "flag", "VK_NODE_NAME", "env", func(o *options, f bool) { o.nodeName = pick(f, "flag", "env") }},
		"node IP":   {"node-ip", "192.0.2.1", "VK_NODE_IP", "192.0.2.2", func(o *options, f bool) { o.nodeIP = net.ParseIP(pick(f, "192.0.2.1", "192.0.2.2")) }},
		"CPU":       {"node-cpu", "1", "VK_NODE_CPU", "500m", func(o *options, f bool) { o.nodeCPU = quantity(pick(f, "1", "500m")) }},
		"memory":    {"node-memory", "1Gi", "VK_NODE_MEMORY", "2Gi", func(o *options, f bool) { o.nodeMemory = quantity(pick(f, "1Gi", "2Gi")) }},
		"ephemeral storage": {"node-ephemeral-storage", "3Gi", "VK_NODE_EPHEMERAL_STORAGE", "4Gi", func(o *options, f bool) {
			o.nodeEphemeralStorage = quantity(pick(f, "3Gi", "4Gi"))
		}},
		"pods":        {"node-pods", "1", "VK_NODE_PODS", "2k", func(o *options, f bool) { o.nodePods = quantity(pick(f, "1", "2k")) }},
		"listen":      {"listen-addr", "127.0.0.1:1", "VK_LISTEN_ADDR", "[::1]:2", func(o *options, f bool) { o.listenAddr = pick(f, "127.0.0.1:1", "[::1]:2") }},
		"certificate": {"tls-cert", "/f", "VK_TLS_CERT", "/e", func(o *options, f bool) { o.tlsCert = pick(f, "/f", "/e") }},
		"key":         {"tls-key", "/f", "VK_TLS_KEY", "/e", func(o *options, f bool) { o.tlsKey = pick(f, "/f", "/e") }},
		"URL": {"sandboxd-url", "http://f:1", "SANDBOXD_URL", "https://e", func(o *options, f bool) {
			o.sandboxdURL, o.sandboxdAdvertiseAddr = pick(f, "http://f:1", "https://e"), pick(f, "f:1", "e:443")
		}},
		"advertise":  {"sandboxd-advertise-addr", "f:1", "SANDBOXD_ADVERTISE_ADDR", "e:2", func(o *options, f bool) { o.sandboxdAdvertiseAddr = pick(f, "f:1", "e:2") }},
		"token file": {"sandboxd-token-file", "/f", "SANDBOXD_TOKEN_FILE", "/e", func(o *options, f bool) { o.sandboxdTokenFile = pick(f, "/f", "/e") }},
		"state":      {"state-path", "/f", "VK_STATE_PATH", "/e", func(o *options, f bool) { o.statePath = pick(f, "/f", "/e") }},
		"machine id": {"machine-id-file", "", "VK_MACHINE_ID_FILE", "/e", func(o *options, f bool) { o.machineIDFile = pick(f, "", "/e") }},
		"metrics":    {"metrics-addr", "0", "VK_METRICS_ADDR", "[::]:2", func(o *options, f bool) { o.metricsAddr = pick(f, "", "[::]:2") }},
		"profiles":   {"enable-pprof", "true", "", "", func(o *options, _ bool) { o.enablePprof = true }},
		"format":     {"log-format", "json", "VK_LOG_FORMAT", "text", func(o *options, f bool) { o.logFormat = pick(f, "json", "text") }},
		"level":      {"", "", "VK_LOG_LEVEL", "warn", func(o *options, _ bool) { o.logLevel = slog.LevelWarn }},
		"verbosity":  {"v", "6", "", "", func(o *options, _ bool) { o.verbosity, o.logLevel = 6, -6 }},
		"QPS":        {"kube-api-qps", "0.5", "", "", func(o *options, _ bool) { o.kubeAPIQPS = 0.5 }},
		"burst":      {"kube-api-burst", "1", "", "", func(o *options, _ bool) { o.kubeAPIBurst = 1 }},
		"scan":       {"orphan-scan-interval", "0", "", "", func(o *options, _ bool) { o.orphanScanInterval = 0 }},
		"hold":       {"missing-owners-hold", "90m", "", "", func(o *options, _ bool) { o.missingOwnersHold = 90 * time.Minute }},
		"grace":      {"unadoptable-grace", "0", "", "", func(o *options, _ bool) { o.unadoptableGrace = 0 }},
		"warning":    {"lease-warning", "0", "", "", func(o *options, _ bool) { o.leaseWarning = 0 }},
		"status":     {"claim-status-interval", "0", "", "", func(o *options, _ bool) { o.claimStatusInterval = 0 }},
		"publish":    {"publish-inventory", "true", "", "", func(o *options, _ bool) { o.publishInventory = true }},
		"interval":   {"publish-interval", "1m", "", "", func(o *options, _ bool) { o.publishInterval = time.Minute }},
		"labels":     {"node-labels", "a=b, c=", "", "", func(o *options, _ bool) { o.nodeLabels = program.Labels{"a": "b", "c": ""} }},
		"events":     {"disable-pod-events", "true", "", "", func(o *options, _ bool) { o.disablePodEvents = true }},
	} {
		check := func(t *testing.T, args []string, vars map[string]string, fromFlag bool) {
			t.Helper()
			want := defaults()
			tc.set(want, fromFlag)
			if !fromFlag && tc.flag != "" {
				want.origins[tc.flag] = tc.env
			}
			got, err := parse(args, environment(vars))
			if err != nil {
				t.Fatal(err)
			}
			if diff := diffOptions(want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		}
		args, vars := []string{"--" + tc.flag + "=" + tc.byFlag}, map[string]string{tc.env: tc.byEnv}
		if tc.flag != "" {
			t.Run(name+"/flag", func(t *testing.T) { check(t, args, nil, true) })
		}
		if tc.env != "" {
			t.Run(name+"/environment", func(t *testing.T) { check(t, nil, vars, false) })
		}
		if tc.flag != "" && tc.env != "" {
			t.Run(name+"/flag over environment", func(t *testing.T) { check(t, args, vars, true) })
			t.Run(name+"/flag over a bad environment", func(t *testing.T) { check(t, args, map[string]string{tc.env: "\x00"}, true) })
		}
	}
}

func pick(fromFlag bool, flag, env string) string {
	if fromFlag {
		return flag
	}
	return env
}

func TestEmptyVariableIsUnset(t *testing.T) {
	vars := map[string]string{}
	for _, s := range daemonSettings() {
		vars[s.env] = ""
	}
	got, err := parse(nil, environment(vars))
	if err != nil {
		t.Fatal(err)
	}
	if diff := diffOptions(defaults(), got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// A setting that is added must be tested: these are all settings and their defaults.
func TestSettingsAreThoseOfTheDocument(t *testing.T) {
	want := map[string]string{
		"node-name": "VK_NODE_NAME", "node-ip": "VK_NODE_IP", "listen-addr": "VK_LISTEN_ADDR", "tls-cert": "VK_TLS_CERT",
		"tls-key": "VK_TLS_KEY", "node-cpu": "VK_NODE_CPU", "node-memory": "VK_NODE_MEMORY", "node-ephemeral-storage": "VK_NODE_EPHEMERAL_STORAGE", "node-pods": "VK_NODE_PODS",
		"kube-api-qps": "", "kube-api-burst": "", "sandboxd-url": "SANDBOXD_URL", "sandboxd-advertise-addr": "SANDBOXD_ADVERTISE_ADDR",
		"sandboxd-token-file": "SANDBOXD_TOKEN_FILE", "state-path": "VK_STATE_PATH", "orphan-scan-interval": "",
		"publish-inventory": "", "publish-interval": "", "node-labels": "", "disable-pod-events": "", "": "VK_LOG_LEVEL", "version": "",
		"log-format": "VK_LOG_FORMAT", "help": "", "claim-status-interval": "", "metrics-addr": "VK_METRICS_ADDR", "enable-pprof": "",
		"machine-id-file": "VK_MACHINE_ID_FILE", "missing-owners-hold": "", "unadoptable-grace": "", "lease-warning": "", "v": "",
	}
	got := map[string]string{}
	for _, s := range daemonSettings() {
		got[s.flag] = s.env
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
}

func TestInvalidValues(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, tc := range map[string]struct {
		flag, env, value string
		says             string
	}{
		"an upper-case node name":        {"node-name", "VK_NODE_NAME", "Host", "RFC 1123"},
		"a node name beyond a label":     {"node-name", "VK_NODE_NAME", long, "at most 63 characters and this name has 64"},
		"a node IP with a port":          {"node-ip", "VK_NODE_IP", "192.0.2.1:1", "want an IP address"},
		"a node IP of everyone":          {"node-ip", "VK_NODE_IP", "0.0.0.0", "unspecified"},
		"a listen address without port":  {"listen-addr", "VK_LISTEN_ADDR", "localhost", "want [host]:port"},
		"a listen port by name":          {"listen-addr", "VK_LISTEN_ADDR", ":https", `port "https" is not a number`},
		"a listen port out of range":     {"listen-addr", "VK_LISTEN_ADDR", ":65536", `port "65536" is not a number from 0 to 65535`},
		"a metrics address without port": {"metrics-addr", "VK_METRICS_ADDR", "localhost", "want [host]:port"},
		"no CPU":                         {"node-cpu", "VK_NODE_CPU", "0", "must be above zero"},
		"negative CPU":                   {"node-cpu", "VK_NODE_CPU", "-1", "must be above zero"},
		"CPU in words":                   {"node-cpu", "VK_NODE_CPU", "four", "want a Kubernetes quantity"},
		"memory of an unknown unit":      {"node-memory", "VK_NODE_MEMORY", "8TB", "want a Kubernetes quantity"},
		"no memory":                      {"node-memory", "VK_NODE_MEMORY", "0Ti", "must be above zero"},
		"no ephemeral storage":           {"node-ephemeral-storage", "VK_NODE_EPHEMERAL_STORAGE", "0", "must be above zero"},
		"ephemeral storage in words":     {"node-ephemeral-storage", "VK_NODE_EPHEMERAL_STORAGE", "much", "want a Kubernetes quantity"},
		"half a Pod":                     {"node-pods", "VK_NODE_PODS", "2500m", "must be a whole number"},
		"no Pods":                        {"node-pods", "VK_NODE_PODS", "0", "must be above zero"},
		"no QPS":                         {"kube-api-qps", "", "0", "must be above zero"},
		"negative QPS":                   {"kube-api-qps", "", "-1", "must be above zero"},
		"QPS that is none":               {"kube-api-qps", "", "NaN", "want a number of requests"},
		"endless QPS":                    {"kube-api-qps", "", "Inf", "want a number of requests"},
		"no burst":                       {"kube-api-burst", "", "0", "must be above zero"},
		"a broken burst":                 {"kube-api-burst", "", "1.5", "must be an integer"},
		"a URL without scheme":           {"sandboxd-url", "SANDBOXD_URL", "127.0.0.1:7777", "want http://host:port"},
		"a URL of another scheme":        {"sandboxd-url", "SANDBOXD_URL", "unix:///run/sandboxd", "want http://host:port"},
		"a URL without host":             {"sandboxd-url", "SANDBOXD_URL", "http://:7777", "want http://host:port"},
		"an empty URL":                   {"sandboxd-url", "", "", "want http://host:port"},
		"a URL with a password":          {"sandboxd-url", "SANDBOXD_URL", "http://u:p@h:1", "--sandboxd-token-file"},
		"a URL with a query":             {"sandboxd-url", "SANDBOXD_URL", "http://h:1?a=b", "no query"},
		"an advertised URL":              {"sandboxd-advertise-addr", "SANDBOXD_ADVERTISE_ADDR", "http://h:1", "want host:port"},
		"an advertised port alone":       {"sandboxd-advertise-addr", "SANDBOXD_ADVERTISE_ADDR", ":7777", "want host:port"},
		"an advertised port 0":           {"sandboxd-advertise-addr", "SANDBOXD_ADVERTISE_ADDR", "h:0", "from 1 to 65535"},
		"no state path":                  {"state-path", "", "", "a path is required"},
		"a scan back in time":            {"orphan-scan-interval", "", "-1s", "must not be negative"},
		"a scan without unit":            {"orphan-scan-interval", "", "60", "must be a duration"},
		"no hold":                        {"missing-owners-hold", "", "0", "must be above zero"},
		"a hold back in time":            {"missing-owners-hold", "", "-1h", "must not be negative"},
		"a grace back in time":           {"unadoptable-grace", "", "-1s", "must not be negative"},
		"a grace without unit":           {"unadoptable-grace", "", "600", "must be a duration"},
		"a warning after the end":        {"lease-warning", "", "-1s", "must not be negative"},
		"publishing without pause":       {"publish-interval", "", "0s", "must be above zero"},
		"publishing back in time":        {"publish-interval", "", "-1s", "must not be negative"},
		"a label without value":          {"node-labels", "", "a", `"a" is not key=value`},
		"a label left out":               {"node-labels", "", "a=b,", `"" is not key=value`},
		"a label key that is none":       {"node-labels", "", "a b=c", `label key "a b"`},
		"a label value that is none":     {"node-labels", "", "a=b/c", `value "b/c" of label a`},
		"a label given twice":            {"node-labels", "", "a=b,a=c", "given twice"},
		"a label that is the node's own": {"node-labels", "", "type=other", `always "virtual-kubelet"`},
		"another hostname":               {"node-labels", "", "kubernetes.io/hostname=h", `always "vk-sandboxd"`},
		"a flag that wants a bool":       {"publish-inventory", "", "maybe", "must be true or false"},
		"a log format of its own":        {"log-format", "VK_LOG_FORMAT", "xml", "want text or json"},
		"a verbosity below none":         {"v", "", "-1", "must not be negative"},
		"a verbosity in words":           {"v", "", "debug", "must be an integer"},
		"a log level of its own":         {"", "VK_LOG_LEVEL", "trace", "want debug, info, warn or error"},
		"a log level in capitals":        {"", "VK_LOG_LEVEL", "INFO", "want debug, info, warn or error"},
	} {
		check := func(t *testing.T, args []string, vars map[string]string, names ...string) {
			t.Helper()
			_, err := parse(args, environment(vars))
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range append(names, tc.says) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error = %q, want it to say %q", err, want)
				}
			}
		}
		if tc.flag != "" {
			t.Run(name+"/flag", func(t *testing.T) { check(t, []string{"--" + tc.flag + "=" + tc.value}, nil, "--"+tc.flag) })
		}
		if tc.env != "" {
			names := []string{tc.env}
			if tc.flag != "" {
				names = append(names, "--"+tc.flag)
			}
			t.Run(name+"/environment", func(t *testing.T) { check(t, nil, map[string]string{tc.env: tc.value}, names...) })
		}
	}
}

func TestEverythingInvalidIsReportedAtOnce(t *testing.T) {
	_, err := parse([]string{"--publish-interval=0", "--kube-api-burst=-1"}, environment(map[string]string{
		"VK_NODE_CPU": "x", "VK_NODE_IP": "y", "VK_LOG_LEVEL": "z", "VK_NODE_NAME": "Host", "SANDBOXD_URL": "a",
	}))
	for _, want := range []string{
		`"x" of --node-cpu (from VK_NODE_CPU)`, `"y" of --node-ip (from VK_NODE_IP)`, `"z" of VK_LOG_LEVEL`,
		`"Host" of --node-name (from VK_NODE_NAME)`, "--sandboxd-url (from SANDBOXD_URL)", "--publish-interval", "--kube-api-burst",
	} {
		if err == nil || strings.Count(err.Error(), want) != 1 {
			t.Errorf("error = %v, want it to say %s once", err, want)
		}
	}
}

// A password in a URL must not reach the log of a daemon that does not start.
func TestCredentialsInTheURLAreNotPrinted(t *testing.T) {
	for _, url := range []string{"http://user:SECRET@h:1", "http://user:SECRET@h:port", "user:SECRET@h", "http://h:1/?token=SECRET"} {
		for name, read := range map[string]func() (*options, error){
			"flag":        func() (*options, error) { return parse([]string{"--sandboxd-url=" + url}, environment(nil)) },
			"environment": func() (*options, error) { return parse(nil, environment(map[string]string{"SANDBOXD_URL": url})) },
		} {
			if _, err := read(); err == nil || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%s by %s: %v", url, name, err)
			}
		}
	}
}

func TestArgumentsThatAreNoFlags(t *testing.T) {
	for name, args := range map[string][]string{
		"positional":   {"serve"},
		"after run":    {"run", "serve"},
		"unknown flag": {"--no-such-flag"},
		"after --":     {"--", "x"},
		"no value":     {"--node-name"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parse(args, environment(nil)); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestOwnLabelsMayBeRepeated(t *testing.T) {
	o, err := parse([]string{"--node-labels", "type=virtual-kubelet,kubernetes.io/hostname=h,a=b", "--node-name=h"}, environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.nodeLabels) != 3 {
		t.Errorf("labels = %v", o.nodeLabels)
	}
}
