// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package programs

import (
	"context"
	"path/filepath"
	"strings"
	"text/template"

	"golang.org/x/sys/unix"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/identity"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/process"
)

// PauseImage is the image of the container that holds a Pod's namespaces.
const PauseImage = "docker.io/library/vk-sandbox-pause:local"

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

// WriteContainerdConfig writes the configuration of a host's containerd and its
// Pod network.
func WriteContainerdConfig(h layout.HostPaths, a layout.Address, cniPlugins, snapshotter string) error {
	var text strings.Builder
	err := containerdConfig.Execute(&text, map[string]string{
		"Socket": layout.ContainerdSocket, "PauseImage": PauseImage, "Snapshotter": snapshotter,
		"CNIPlugins": cniPlugins, "CNIConfig": filepath.Dir(h.Config("cni/ptp.conflist")),
	})
	if err != nil {
		return err
	}
	if err := cluster.WriteFile(h.Config("containerd.toml"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	return identity.WriteJSON(h.Config("cni/ptp.conflist"), identity.Object{
		"cniVersion": "0.4.0", "name": "vk-sandbox",
		"plugins": []identity.Object{{
			"type": "ptp", "ipMasq": true,
			"ipam": identity.Object{
				"type": "host-local", "ranges": [][]identity.Object{{{"subnet": a.Pods.String()}}},
				"routes": []identity.Object{{"dst": "0.0.0.0/0"}}, "dataDir": "/run/cni",
			},
		}, {"type": "portmap", "capabilities": identity.Object{"portMappings": true}}},
	})
}

// Snapshotter returns containerd's snapshotter for a folder: overlayfs can not
// be stacked on itself without limit.
func Snapshotter(folder string) (string, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return "", err
	}
	if fs.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native", nil
	}
	return "overlayfs", nil
}

// Containerd runs the containers of a host.
func Containerd(h layout.HostPaths, a layout.Address, in *process.Namespaces, binary string) process.Component {
	return process.Component{
		Name:   a.Name + ".containerd",
		In:     in,
		Argv:   []string{binary, "--config=" + h.Config("containerd.toml")},
		Inputs: []string{h.Config("containerd.toml")},
		Healthy: func(ctx context.Context) error {
			return dial(ctx, "unix", layout.HostContainerdSocket(in.PID))
		},
	}
}
