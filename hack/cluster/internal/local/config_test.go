// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import "testing"

func TestHidden(t *testing.T) {
	for folder, want := range map[string]bool{
		"/run": true, "/run/user/0/x": true, "/var/lib/jenkins/.cache": true, "/var/logs": false, "/opt/.cache": false, "/var": false,
	} {
		if got := hidden(folder); got != want {
			t.Errorf("hidden(%s) = %v", folder, got)
		}
	}
}

func TestWave(t *testing.T) {
	order := []string{"host-1.kubelet", "kube-apiserver", "etcd", "host-1.init"}
	for i, name := range order {
		if got := wave(name); got != i {
			t.Errorf("%s ends in wave %d, want %d", name, got, i)
		}
	}
	if wave("host-1.containerd") <= wave("host-1.kubelet") {
		t.Error("containerd ends before kubelet")
	}
}
