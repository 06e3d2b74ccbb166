// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/cocoonstack/vk-sandbox/pkg/check"
	"github.com/cocoonstack/vk-sandbox/pkg/generated/clientset/versioned"
	"github.com/cocoonstack/vk-sandbox/pkg/program"
)

const checkHelp = `vk-sandbox check proves an installation end to end: on every virtual node it makes
a sandbox Pod, waits for its claim, deletes it, and waits for the release. It cleans
up after itself. "helm test" runs it with the chart's settings.

Its account needs list on nodes, get, create and delete on Pods of the namespace, and
get on the DaemonSet and on nodeclaimstatuses if they are looked at. Kubernetes is
reached with the in-cluster configuration, or without one with the kubeconfig at
$KUBECONFIG.`

// checkOptions are the settings of the check command.
type checkOptions struct {
	namespace, daemonSet, ownerPod string
	nodes                          program.Labels
	template, net, size            string
	claimStatus                    bool
	timeout                        time.Duration
}

func (o *checkOptions) flags() (sections cliflag.NamedFlagSets) {
	fs := sections.FlagSet("check")
	fs.StringVar(&o.template, "template", "", "template `axis` to claim, one that sandboxd has")
	fs.StringVar(&o.net, "net", "", "network `axis` to claim (default: sandboxd's)")
	fs.StringVar(&o.size, "size", "", "size `axis` to claim (default: sandboxd's)")
	fs.Var(&o.nodes, "node-selector", "labels of the virtual nodes, separated by commas")
	program.SetDefault(fs, "node-selector", "type=virtual-kubelet,sandbox.cocoonstack.io/runtime=sandboxd")
	fs.StringVar(&o.namespace, "namespace", "default", "`namespace` of the check's Pods")
	fs.StringVar(&o.daemonSet, "daemonset", "",
		"`DaemonSet` in that namespace whose Pods must all be Ready")
	fs.StringVar(&o.ownerPod, "owner-pod", "",
		"owner of the check's Pods, a Pod in that namespace, as `name/uid`")
	fs.BoolVar(&o.claimStatus, "claim-status", true,
		"wait for the release in the NodeClaimStatus too")
	fs.DurationVar(&o.timeout, "timeout", 0, "time limit, without cleaning up")
	program.SetDefault(fs, "timeout", "2m")
	return sections
}

// newCheckCommand returns the command that tests an installation.
func newCheckCommand(getenv func(string) string) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use: "check --template=axis", Short: "Prove an installation with a claim on every virtual node", Long: checkHelp,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.UnexpectedArguments(args, ""); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return program.UsageError(err)
			}
			c, err := o.config(getenv, cmd.OutOrStdout())
			if err != nil {
				return err
			}
			return check.Run(cmd.Context(), *c)
		},
	}
	program.AddFlags(cmd, o.flags(), nil)
	return cmd
}

func (o *checkOptions) validate() error {
	var missing error
	if o.template == "" {
		missing = errors.New("--template is missing: name a template that sandboxd has (test.template in the chart)")
	}
	var v program.Validation
	v.Check("namespace", o.namespace, program.Joined(validation.IsDNS1123Label(o.namespace)))
	if _, err := o.owner(); err != nil {
		v.Check("owner-pod", o.ownerPod, err)
	}
	v.Check("timeout", o.timeout.String(), program.CheckPositive(o.timeout))
	return errors.Join(missing, v.Err())
}

// owner returns the Pod that owns the check's Pods, or nil for none.
func (o *checkOptions) owner() (*metav1.OwnerReference, error) {
	if o.ownerPod == "" {
		return nil, nil
	}
	name, uid, found := strings.Cut(o.ownerPod, "/")
	if !found || name == "" || uid == "" {
		return nil, errors.New("want a Pod's name and UID as name/uid")
	}
	return &metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: name, UID: types.UID(uid)}, nil
}

// config returns the check's configuration with its clients.
func (o *checkOptions) config(getenv func(string) string, out io.Writer) (*check.Config, error) {
	owner, err := o.owner()
	if err != nil {
		return nil, err
	}
	config, err := kubeConfig("vk-sandbox-check", getenv)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // no rate limit: the check sends few requests
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("build the Kubernetes client: %w", err)
	}
	c := &check.Config{
		Namespace: o.namespace, Nodes: labels.SelectorFromSet(labels.Set(o.nodes)), DaemonSet: o.daemonSet,
		Template: o.template, Net: o.net, Size: o.size,
		Owner: owner, Timeout: o.timeout, Client: client, Out: out,
		AxesHint:   "--template, --net and --size; test.template, test.net and test.size in the chart",
		StatusHint: "--claim-status=false, where the daemons have --claim-status-interval=0",
	}
	if o.claimStatus {
		objects, err := versioned.NewForConfig(config)
		if err != nil {
			return nil, fmt.Errorf("build the client of the nodes' own objects: %w", err)
		}
		c.Statuses = objects.SandboxV1alpha1().NodeClaimStatuses()
	}
	return c, nil
}
