// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"context"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/sys/unix"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

const (
	// containerdSocket is the socket within a host. Every host has its own /run.
	containerdSocket = "/run/containerd/containerd.sock"
	pauseImage       = "docker.io/library/vk-sandbox-pause:local"
)

// containerdConfig sets what the default configuration gets wrong here: the
// sandbox image can not be pulled, and a machine without CAP_SYS_RESOURCE can
// not lower a score that restrict_oom_score_adj keeps as it is.
var containerdConfig = template.Must(template.New("containerd").Parse(`version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
  address = "{{.Socket}}"

[ttrpc]
  address = "{{.Socket}}.ttrpc"

[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{{.PauseImage}}"
  restrict_oom_score_adj = true
  disable_apparmor = true

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = "{{.Snapshotter}}"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = "{{.CNIPlugins}}"
  conf_dir = "{{.CNIConfig}}"
`))

// writeContainerdConfig writes the configuration of a host's containerd and its
// Pod network.
func writeContainerdConfig(h hostPaths, a address, cniPlugins, snapshotter string) error {
	var text strings.Builder
	err := containerdConfig.Execute(&text, map[string]string{
		"Socket": containerdSocket, "PauseImage": pauseImage, "Snapshotter": snapshotter,
		"CNIPlugins": cniPlugins, "CNIConfig": filepath.Dir(h.config("cni/ptp.conflist")),
	})
	if err != nil {
		return err
	}
	if err := cluster.WriteFile(h.config("containerd.toml"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	return writeJSON(h.config("cni/ptp.conflist"), object{
		"cniVersion": "0.4.0", "name": "vk-sandbox",
		"plugins": []object{{
			"type": "ptp", "ipMasq": true,
			"ipam": object{
				"type": "host-local", "ranges": [][]object{{{"subnet": a.pods.String()}}},
				"routes": []object{{"dst": "0.0.0.0/0"}}, "dataDir": "/run/cni",
			},
		}, {"type": "portmap", "capabilities": object{"portMappings": true}}},
	})
}

// snapshotter returns containerd's snapshotter for a folder: overlayfs can not
// be stacked on itself without limit.
func snapshotter(folder string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return "", err
	}
	if fs.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native", nil
	}
	return "overlayfs", nil
}

func containerd(h hostPaths, a address, in *namespaces, binary string) component {
	return component{
		name:   a.name + ".containerd",
		in:     in,
		argv:   []string{binary, "--config=" + h.config("containerd.toml")},
		inputs: []string{h.config("containerd.toml")},
		healthy: func(ctx context.Context) error {
			return dial(ctx, "unix", hostContainerdSocket(in.pid))
		},
	}
}
