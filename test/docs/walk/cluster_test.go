// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/cocoonstack/vk-sandbox/test/e2e/clusterinfo"
)

// Names on the pages.
const (
	release = "vk-sandbox" // and its namespace
	sandbox = "my-sandbox" // and its Pod
	barePod = "my-pod"
	values  = root + "/vk-sandbox-values.yaml"
)

// cluster is the test's access to the cluster beside the reader's shell.
type cluster struct {
	*clusterinfo.Info
	started time.Time
	// name is that of the Pod that the chapter is about.
	name string
}

// newCluster finds an unused cluster and restores it at the end.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	info, err := clusterinfo.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Hosts) < 2 {
		t.Fatalf("the pages are walked on two hosts, and the cluster has %d: make cluster-up HOSTS=2", len(info.Hosts))
	}
	c := &cluster{Info: info, started: time.Now(), name: sandbox}
	if out, err := c.helm("status", release, "--namespace="+release); err == nil {
		t.Fatalf("the release that the pages install is there already; uninstall it first:\n%s", out)
	}
	if _, err := os.Stat(values); err == nil {
		t.Fatalf("%s is there already, and the pages write it: move it away first", values)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.describe())
		}
		if err := c.remove(); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	// What releases of other names have left is theirs, and stops an installation;
	// and a CRD that is still being deleted would go away under the walk.
	for _, args := range [][]string{
		{"delete", "crd", "nodeclaimstatuses.sandbox.cocoonstack.io", "nodeinventories.sandbox.cocoonstack.io", "--ignore-not-found"},
		{"apply", "--filename=testdata/monitoring-crds.yaml"},
	} {
		if out, err := c.kubectl(args...); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return c
}

// remove deletes everything that a walk can leave, at whatever step it stopped.
func (c *cluster) remove() error {
	_ = os.Remove(values) // it may not be there
	_, uninstall := c.helm("uninstall", release, "--namespace="+release, "--ignore-not-found", "--wait", "--timeout=2m")
	errs := []error{uninstall}
	for _, args := range []string{
		"delete --filename=" + root + "/examples --ignore-not-found --wait=false",
		"delete nodes --selector=type=virtual-kubelet",
		"delete crd nodeclaimstatuses.sandbox.cocoonstack.io nodeinventories.sandbox.cocoonstack.io --ignore-not-found",
		"delete namespace " + release + " --ignore-not-found",
		"delete --filename=testdata/monitoring-crds.yaml --ignore-not-found",
		"label nodes --all sandbox.cocoonstack.io/sandboxd-",
		"uncordon --selector=type!=virtual-kubelet",
	} {
		_, err := c.kubectl(strings.Fields(args)...)
		errs = append(errs, err)
	}
	for _, h := range c.Hosts {
		_, err := run(root+"/bin/cluster", "exec", "--host="+h.Name, "--", "rm", "-rf", "/var/lib/sandbox-claims")
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c *cluster) kubectl(args ...string) (string, error) {
	return run(c.Kubectl, append([]string{"--kubeconfig=" + c.Kubeconfig}, args...)...)
}

func (c *cluster) helm(args ...string) (string, error) {
	return run(c.Helm, append([]string{"--kubeconfig=" + c.Kubeconfig}, args...)...)
}

// run returns the standard output and standard error of a program.
func run(program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// describe returns the context of a failure.
func (c *cluster) describe() string {
	var b strings.Builder
	for _, args := range []string{
		"get nodes --show-labels",
		"get nodeclaimstatuses --output=yaml",
		"get pods --all-namespaces --output=wide",
		"get events --all-namespaces --sort-by=.metadata.creationTimestamp",
		"logs --namespace=" + release + " --selector=app.kubernetes.io/name=vk-sandbox --prefix --tail=60",
	} {
		out, _ := c.kubectl(strings.Fields(args + " --request-timeout=10s")...)
		fmt.Fprintf(&b, "--- kubectl %s\n%s\n", args, out)
	}
	return b.String()
}

// eventually ends the test unless check returns nil within a minute.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	last := errors.New("it was not asked")
	err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, last)
	}
}
