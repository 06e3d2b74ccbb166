// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/cocoonstack/vk-sandbox/pkg/check"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
)

// commandCheck is the word that calls for the check instead of the daemon.
const commandCheck = "check"

const checkHelp = `vk-sandbox check proves an installation end to end: on every virtual node it makes
a sandbox Pod, waits for its claim, deletes it, and waits for the release. It cleans
up after itself. "helm test" runs it with the chart's settings.

Its account needs list on nodes, get, create and delete on Pods of the namespace, and
get on the DaemonSet and on nodeclaimstatuses if they are looked at. Kubernetes is
reached with the in-cluster configuration, or without one with the kubeconfig at
$KUBECONFIG.

Usage: vk-sandbox check --template=axis [flags]

`

// checkOptions are the settings of the check command.
type checkOptions struct {
	namespace, daemonSet string
	nodes                map[string]string
	template, net, size  string
	owner                *metav1.OwnerReference
	claimStatus          bool
	timeout              time.Duration
}

// checkSettings lists them. Each writes into o.
func checkSettings(o *checkOptions) []setting {
	return []setting{
		{"", "template", "", "",
			"template axis to claim, one that sandboxd has", bind(&o.template, "axis", parseText)},
		{"", "net", "", "",
			"network axis to claim; empty means sandboxd's default", bind(&o.net, "axis", parseText)},
		{"", "size", "", "",
			"size axis to claim; empty means sandboxd's default", bind(&o.size, "axis", parseText)},
		{"", "node-selector", "", "type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd",
			"labels of the virtual nodes, separated by commas", bind(&o.nodes, "key=value,...", parseLabels)},
		{"", "namespace", "", "default",
			"namespace of the check's Pods", bind(&o.namespace, "name", parseNamespace)},
		{"", "daemonset", "", "",
			"DaemonSet of the daemons in that namespace, whose Pods all have to be Ready; empty for none", bind(&o.daemonSet, "name", parseText)},
		{"", "owner-pod", "", "",
			"Pod in that namespace that takes the check's Pods along when it is deleted; empty for none", bind(&o.owner, "name/uid", parseOwnerPod)},
		{"", "claim-status", "", "true",
			"see the release in the nodes' NodeClaimStatus; without it the end of the Pod has to do", bind(&o.claimStatus, "bool", parseBool)},
		{"", "timeout", "", "2m",
			"time for everything but cleaning up", bind(&o.timeout, "duration", parsePositiveInterval)},
		{"", "help", "", "false",
			"print this text and exit", bind(new(bool), "bool", parseBool)},
	}
}

// executeCheck is the check command: it returns the exit code.
func executeCheck(args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	var o checkOptions
	if code, run := parseCommand(commandCheck, checkHelp, checkSettings(&o), args, getenv, stdout, stderr); !run {
		return code
	}
	if o.template == "" {
		return refuse(commandCheck, errors.New("--template is missing: name a template that sandboxd has (test.template in the chart)"), stderr)
	}
	if err := runCheck(ctx, &o, getenv, stdout); err != nil {
		fmt.Fprintf(stderr, "vk-sandbox check: %v\n", err)
		return exitError
	}
	return exitOK
}

func runCheck(ctx context.Context, o *checkOptions, getenv func(string) string, stdout io.Writer) error {
	config, err := kubeConfig("vk-sandbox-check", getenv)
	if err != nil {
		return err
	}
	config.QPS = -1 // few requests, at a pace of their own
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("build the Kubernetes client: %w", err)
	}
	c := check.Config{
		Namespace: o.namespace, Nodes: labels.SelectorFromSet(o.nodes), DaemonSet: o.daemonSet,
		Template: o.template, Net: o.net, Size: o.size,
		Owner: o.owner, Timeout: o.timeout, Client: client, Out: stdout,
	}
	if o.claimStatus {
		objects, err := versioned.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("build the client of the nodes' own objects: %w", err)
		}
		c.Statuses = objects.SandboxV1alpha1().NodeClaimStatuses()
	}
	return check.Run(ctx, c)
}
