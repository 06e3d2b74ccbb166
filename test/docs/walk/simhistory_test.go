// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package walk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// vm is a microVM that was claimed for the pages' Pod, as bin/simhistory tells of it.
type vm struct{ host, id, state, destroyedBy string }

func (v vm) alive() bool { return v.state != "destroyed" }

// vms are those that were claimed since the walk began, in order.
func (c *cluster) vms(t *testing.T) (all []vm) {
	t.Helper()
	out, err := run(root+"/bin/simhistory", "--ref=default/"+c.name, "--since="+c.started.UTC().Format(time.RFC3339Nano))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(out, "\n")[1:] {
		if words := strings.Fields(line); len(words) == 5 && words[3] == "default/"+c.name {
			all = append(all, vm{words[0], words[1], words[2], words[4]})
		}
	}
	return all
}

// last is the newest microVM.
func (c *cluster) last(t *testing.T) vm {
	t.Helper()
	all := c.vms(t)
	if len(all) == 0 {
		t.Fatal("no microVM was ever claimed")
	}
	return all[len(all)-1]
}

// untouched checks that nothing was claimed and nothing destroyed since before.
func (c *cluster) untouched(t *testing.T, before []vm) {
	t.Helper()
	if now := c.vms(t); !slices.Equal(before, now) {
		t.Fatalf("the microVMs were\n%+v\nand are\n%+v", before, now)
	}
}

// waitDestroyed waits until no microVM of the Pod is alive, each destroyed with
// the token that the daemon's table has.
func (c *cluster) waitDestroyed(t *testing.T) {
	t.Helper()
	eventually(t, "end of the microVMs", func() error {
		for _, v := range c.vms(t) {
			if v.alive() {
				return fmt.Errorf("%+v is alive", v)
			}
			if v.destroyedBy != "sandbox-token" {
				t.Fatalf("%+v was not destroyed with its own token", v)
			}
		}
		return nil
	})
}

// theSandboxPod is what the API says of the pages' Pod.
type theSandboxPod struct{ uid, phase, node, claim string }

func (c *cluster) pod(t *testing.T) theSandboxPod {
	t.Helper()
	out, err := c.kubectl("get", "pod", c.name, "--output=jsonpath={.metadata.uid} {.status.phase} {.spec.nodeName} "+
		`{.metadata.annotations.sandbox\.cocoonstack\.io/claim-id}`)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(out)
	if len(words) != 4 {
		t.Fatalf("the Pod's UID, phase, node and claim are %q", out)
	}
	return theSandboxPod{words[0], words[1], words[2], words[3]}
}

// daemons are the daemon's Pods, by host, and one word of each that says what it
// is: its UID or its image.
func (c *cluster) daemons(t *testing.T, path string) map[string]string {
	t.Helper()
	out, err := c.kubectl("get", "pods", "--namespace="+release, "--selector=app.kubernetes.io/name=vk-sandbox",
		`--output=jsonpath={range .items[*]}{.spec.nodeName} {`+path+`}{"\n"}{end}`)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, line := range strings.Split(out, "\n") {
		if host, is, ok := strings.Cut(line, " "); ok {
			all[host] = is
		}
	}
	return all
}
