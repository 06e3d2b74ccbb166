// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/util/cert"
)

// on sets the commands' variables for a host.
func (r *reader) on(host string) {
	r.t.Helper()
	r.hosts = []string{host}
	r.run("the host in question", "HOST="+host)
	r.play(operations, "The names in the commands")
}

// podHost returns the host of the pages' Pod.
func (r *reader) podHost() string {
	r.t.Helper()
	return strings.TrimSuffix(r.pod(r.t).node, "-sandboxd")
}

// unchanged checks that play changes neither the Pod nor a microVM, and that it replaces
// every daemon or none.
func (r *reader) unchanged(replaced bool, play func()) {
	r.t.Helper()
	pod, vms, daemons := r.running(), r.vms(r.t), r.daemons(r.t, ".metadata.uid")
	play()
	r.untouched(r.t, vms)
	if now := r.running(); now != pod {
		r.t.Errorf("the Pod was %+v and is %+v", pod, now)
	}
	now := r.daemons(r.t, ".metadata.uid")
	for host, uid := range daemons {
		if (now[host] != uid) != replaced {
			r.t.Errorf("the daemon of %s was %s and is %s", host, uid, now[host])
		}
	}
}

func (r *reader) upgrade() {
	old := r.daemons(r.t, ".spec.containers[0].image")
	// The next version: the same program under another name.
	next := "vk-sandbox:walked"
	if _, err := run(root+"/bin/cluster", "load-image", "--name="+next, "--binary="+root+"/bin/vk-sandbox", "--entrypoint=/vk-sandbox"); err != nil {
		r.t.Fatal(err)
	}
	content, err := os.ReadFile(values)
	if err != nil {
		r.t.Fatal(err)
	}
	_, tag, _ := strings.Cut(slices.Collect(maps.Values(old))[0], ":")
	edited := strings.Replace(string(content), `tag: "`+tag+`"`, `tag: "walked"`, 1)
	if err := os.WriteFile(values, []byte(edited), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.unchanged(true, func() { r.play(installation, "Upgrade") })
	for host, image := range r.daemons(r.t, ".spec.containers[0].image") {
		if image != next {
			r.t.Errorf("after the upgrade, %s runs %s, not %s", host, image, next)
		}
	}
	r.unchanged(true, func() { r.play(operations, "Upgrade and roll back") })
	if now := r.daemons(r.t, ".spec.containers[0].image"); !maps.Equal(now, old) {
		r.t.Errorf("rolled back, the hosts run %v, not %v", now, old)
	}
}

// diagnose runs the commands that only read. On a healthy node they find nothing.
func (r *reader) diagnose() {
	r.on(r.podHost())
	r.unchanged(false, func() {
		r.play(operations, "Read NodeClaimStatus")
		r.play(operations, "Two hosts under one node name, or a replaced host")
		r.play(operations, "A table from another cluster or host")
		r.play(operations, "After an API server was restored from a backup")
		for _, file := range r.runbooks() {
			r.playPage(file)
		}
	})
}

func (r *reader) runbooks() []string {
	var all []string
	for _, b := range r.blocks {
		if strings.HasPrefix(b.Page, runbooks) {
			all = append(all, b.Page)
		}
	}
	return slices.Compact(all)
}

func (r *reader) rotate() {
	r.unchanged(true, func() { r.play(operations, "Rotate sandboxd's token") })

	certificate, key, err := cert.GenerateSelfSignedCertKey("walked.test", nil, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	folder := r.t.TempDir()
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	r.run("the certificate", fmt.Sprintf("CERT_FILE='%[1]s/tls.crt' KEY_FILE='%[1]s/tls.key'", folder))
	r.unchanged(true, func() { r.play(operations, "Replace the kubelet API's certificate") })
	for _, h := range r.Hosts {
		if err := serves(net.JoinHostPort(h.IP, "10260"), "walked.test"); err != nil {
			r.t.Errorf("the kubelet API of %s: %v", h.Name, err)
		}
	}
}

// serves reports whether the listener has a certificate for the name.
func serves(address, name string) error {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	conn, err := tls.DialWithDialer(dialer, "tcp", address, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // its name alone is in question
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].VerifyHostname(name)
}

// restore restores a copy of the table of the Pod's host.
func (r *reader) restore() {
	const section = "Back up and restore a table"
	r.on(r.podHost())
	vms, pod := r.vms(r.t), r.running()
	r.play(operations, section, 0)
	r.play(operations, "Stop and start the daemon of a host", 0)
	r.play(operations, section, 1)
	r.play(operations, "Stop and start the daemon of a host", 1)
	r.untouched(r.t, vms)
	if now := r.running(); now != pod {
		r.t.Errorf("the Pod was %+v and is %+v", pod, now)
	}
	r.holds(pod.claim)
}

// holds waits until the node of the Pod's host shows the claim as bound.
func (r *reader) holds(claim string) {
	r.t.Helper()
	node := r.pod(r.t).node
	eventually(r.t, "claims of "+node, func() error {
		out, err := r.kubectl("get", "nodeclaimstatus", node, `--output=jsonpath={.status.claims[?(@.state=="Bound")].id}`)
		if err == nil && out != claim {
			err = fmt.Errorf("bound are %q, want %s", out, claim)
		}
		return err
	})
}

func (r *reader) move() {
	r.hosts = nil
	for _, h := range r.Hosts {
		r.hosts = append(r.hosts, h.Name)
	}
	claim := r.pod(r.t).claim
	r.unchanged(true, func() { r.play(operations, "Move the tables to another path") })
	for _, host := range r.hosts {
		r.onHost(host, "test -s /var/lib/sandbox-claims/claims.json && ! test -e /var/lib/vk-sandbox/claims.json")
	}
	r.holds(claim)
}

func (r *reader) drain() {
	const section = "Drain a host"
	r.on(r.podHost())
	r.unchanged(false, func() { r.play(operations, section, 0, 1) })

	before, vms := r.running(), r.vms(r.t)
	r.play(operations, section, 2, 3)
	eventually(r.t, "the Pod on another host", func() error {
		out, err := r.kubectl("get", "pod", sandbox, "--output=jsonpath={.spec.nodeName} {.status.phase}")
		if err == nil && (strings.HasPrefix(out, before.node) || !strings.HasSuffix(out, " Running")) {
			err = errors.New(out)
		}
		return err
	})
	after, want := r.running(), len(vms)+1
	if slices.ContainsFunc(vms, func(v vm) bool { return v.alive() && v.host+"-sandboxd" == after.node }) {
		want-- // The Sandbox was on that host before, and its microVM there waited for it.
	}
	if now := r.vms(r.t); len(now) != want || !slices.Equal(now[:len(vms)], vms) {
		r.t.Errorf("the microVMs were\n%+v\nand are\n%+v; want %d, and each as before", vms, now, want)
	}
	r.play(operations, section, 4)
}

// takeOut follows drain, so the host still has an unused microVM.
func (r *reader) takeOut() {
	if _, err := r.kubectl("cordon", r.hosts[0]+"-sandboxd"); err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.kubectl("delete", "sandbox", sandbox); err != nil {
		r.t.Fatal(err)
	}
	r.play(operations, "Empty a host")
	r.waitDestroyed(r.t)
	r.play(operations, "Stop and start the daemon of a host", 0)
	r.play(operations, "Take a host out for good")
	node := r.hosts[0] + "-sandboxd"
	eventually(r.t, "what is left of "+node, func() error {
		out, err := r.kubectl("get", "node,nodeclaimstatus,nodeinventory", "--output=name")
		if err == nil && strings.Contains(out, node) {
			err = errors.New(out)
		}
		return err
	})
	if _, there := r.daemons(r.t, ".metadata.uid")[r.hosts[0]]; there {
		r.t.Errorf("%s still has a daemon", r.hosts[0])
	}
	// What remains is the other host.
	for _, h := range r.Hosts {
		if h.Name != r.hosts[0] {
			r.hosts = []string{h.Name}
			return
		}
	}
}
