// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

func (r *reader) lookAround() {
	r.play(development, "Development")
	r.play(development, "A cluster to work with")
	r.play(development, "Run one test")
	r.play(configuration, "Configuration")
	r.play(testingPage, "Random histories")
	r.play(installation, "systemd, on a host outside Kubernetes' own scheduling")
}

// chartAlone follows the chart's README.md only.
func (r *reader) chartAlone() {
	r.play(chartPage, "Install")
	// A reader is not as fast as this test.
	for _, h := range r.Hosts {
		eventually(r.t, "what "+h.VirtualNode()+" publishes", func() error {
			_, err := r.kubectl("get", "nodeclaimstatus", h.VirtualNode())
			return err
		})
	}
	r.play(readme, "See what a node holds")
	r.play(chartPage, "Test")
	r.play(chartPage, "Monitoring")
	for _, object := range []string{"podmonitor", "prometheusrule", "configmap"} {
		if out, err := r.kubectl("get", object, "--namespace="+release, "--output=name"); err != nil || !strings.Contains(out, release) {
			r.t.Errorf("the %s of the release: %q, %v", object, out, err)
		}
	}
	r.play(chartPage, "Uninstall")
	r.noVirtualNodes()
	// The next reader begins with nothing.
	if _, err := r.kubectl("delete", "namespace", release); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) install() {
	for _, section := range []string{"Say what is yours", "Prepare hosts, namespace and token", "Install", "Look at it", "Prove it"} {
		r.play(installation, section)
	}
	for _, h := range r.Hosts {
		out, err := r.kubectl("get", "node", h.VirtualNode(), `--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
		if err != nil || out != "True" {
			r.t.Errorf("Ready of %s is %q, %v", h.VirtualNode(), out, err)
		}
	}
}

// withAgentSandbox leaves the Sandbox for the chapters that follow.
func (r *reader) withAgentSandbox() {
	const section = "With agent-sandbox"
	r.play(installation, section, 0, 1)
	before := r.running()
	first := r.last(r.t)
	r.play(installation, section, 2)
	resumed := r.running()
	r.play(installation, section, 3)
	for _, after := range []theSandboxPod{resumed, r.running()} {
		if after.uid == before.uid {
			r.t.Error("the Pod is the same as before")
		}
		if same := after.node == before.node; same != (after.claim == before.claim) {
			r.t.Errorf("before %+v, after %+v: it is the same claim exactly when it is the same node", before, after)
		}
		before = after
	}
	for _, v := range r.vms(r.t) {
		if v.id == first.id && !v.alive() {
			r.t.Errorf("%+v ended with its Pod", v)
		}
	}
	r.play(installation, section, 4, 5)
}

func (r *reader) podAlone() {
	r.name = barePod
	defer func() { r.name = sandbox }()
	r.play(installation, "A Pod alone", 0)
	r.running()
	r.play(installation, "A Pod alone", 1)
	r.waitDestroyed(r.t)
}

// running checks that the pages' Pod is Running and that its microVM lives.
func (r *reader) running() theSandboxPod {
	r.t.Helper()
	p := r.pod(r.t)
	alive := ""
	for _, v := range r.vms(r.t) {
		if v.id == p.claim && v.alive() {
			alive = v.host
		}
	}
	if p.phase != "Running" || alive+"-sandboxd" != p.node {
		r.t.Fatalf("the Pod is %+v, and its microVM is alive on host %q", p, alive)
	}
	return p
}

func (r *reader) uninstall() {
	// The Sandbox of the chapters before is gone.
	r.play(installation, "With agent-sandbox", 1)
	r.running()
	r.play(installation, "Uninstall")
	r.waitDestroyed(r.t)
	r.noVirtualNodes()
	eventually(r.t, "what remains", func() error {
		out, err := r.kubectl("get", "namespace,crd,clusterrole,clusterrolebinding,validatingadmissionpolicy", "--output=name")
		if err == nil && strings.Contains(strings.ReplaceAll(out, "vk-sandbox-e2e", ""), "vk-sandbox") || strings.Contains(out, "sandbox.cocoonstack.io") {
			err = fmt.Errorf("there are still\n%s", out)
		}
		return err
	})
	if out, err := r.kubectl("get", "nodes", "--selector=sandbox.cocoonstack.io/sandboxd", "--output=name"); err != nil || out != "" {
		r.t.Errorf("hosts with the label: %q, %v", out, err)
	}
	if _, err := os.Stat(values); !errors.Is(err, os.ErrNotExist) {
		r.t.Errorf("the values file: %v", err)
	}
}

func (r *reader) noVirtualNodes() {
	r.t.Helper()
	out, err := r.kubectl("get", "nodes", "--selector=type=virtual-kubelet", "--output=name")
	if err != nil || out != "" {
		r.t.Errorf("virtual nodes that remain: %q, %v", out, err)
	}
}
