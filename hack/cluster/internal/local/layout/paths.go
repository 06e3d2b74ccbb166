// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package layout

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

// ContainerdSocket is the socket within a host. Every host has its own /run.
const ContainerdSocket = "/run/containerd/containerd.sock"

// Paths are the files and folders of a cluster, under its state folder.
type Paths struct{ State string }

// Kubeconfig is the administrator's.
func (p Paths) Kubeconfig() string { return filepath.Join(p.State, "kubeconfig") }

// Bin is the folder of the programs for users.
func (p Paths) Bin() string { return cluster.BinFolder(p.State) }

// Logs is the folder of all logs.
func (p Paths) Logs() string { return filepath.Join(p.State, "logs") }

// Records is the folder of the process records.
func (p Paths) Records() string { return filepath.Join(p.State, "processes") }

// Restore is the folder of notes on this machine's earlier settings.
func (p Paths) Restore() string { return filepath.Join(p.State, "restore") }

// AuditLog is the audit log of the API server.
func (p Paths) AuditLog() string { return filepath.Join(p.State, "audit", "audit.log") }

// Etcd is etcd's data.
func (p Paths) Etcd() string { return filepath.Join(p.State, "etcd") }

// Images is the folder of image archives.
func (p Paths) Images() string { return filepath.Join(p.State, "images") }

// Config is a configuration file.
func (p Paths) Config(name string) string { return filepath.Join(p.State, "config", name) }

// Cert is a certificate.
func (p Paths) Cert(name string) string { return filepath.Join(p.State, "pki", name+".crt") }

// Key is the key of a certificate.
func (p Paths) Key(name string) string { return filepath.Join(p.State, "pki", name+".key") }

// Host has the paths of a host.
func (p Paths) Host(name string) HostPaths { return HostPaths{filepath.Join(p.State, "hosts", name)} }

// Client is where a program for users is found.
func (p Paths) Client(name string) string { return filepath.Join(p.Bin(), name) }

// Log is the log of a component; those of a host are named HOST.COMPONENT, and
// have a folder of their own.
func (p Paths) Log(component string) string {
	if host, name, found := strings.Cut(component, "."); found {
		return filepath.Join(p.HostLogs(host), name+".log")
	}
	return filepath.Join(p.Logs(), component+".log")
}

// HostLogs is the folder of the logs of a host.
func (p Paths) HostLogs(host string) string { return filepath.Join(p.Logs(), host) }

// Removable are the paths that "down" deletes. It keeps the logs, for whoever
// wants to know what happened, and the lock, which it holds.
func (p Paths) Removable() []string {
	list := []string{p.Kubeconfig(), p.Bin(), p.Records(), p.Restore(), p.Etcd(), p.Images()}
	for _, name := range []string{"audit", "config", "pki", "hosts"} {
		list = append(list, filepath.Join(p.State, name))
	}
	return list
}

// HostPaths are the files and folders of one host.
type HostPaths struct{ dir string }

// Root holds what the host sees in place of the machine's own folders.
func (h HostPaths) Root() string { return filepath.Join(h.dir, "root") }

// Config is a configuration file.
func (h HostPaths) Config(n string) string { return filepath.Join(h.dir, "config", n) }

// Sandboxd is the folder of sandboxd's state.
func (h HostPaths) Sandboxd() string { return filepath.Join(h.dir, "sandboxd") }

// SandboxdToken is the file with sandboxd's root token.
func (h HostPaths) SandboxdToken() string { return filepath.Join(h.dir, "sandboxd", "token") }

// Imported notes that the host's containerd has an image archive.
func (h HostPaths) Imported(archive string) string {
	return filepath.Join(h.dir, "imported", filepath.Base(archive))
}

// ContainerdSocket is the socket as the machine sees it. The path can be too
// long to connect to.
func (h HostPaths) ContainerdSocket() string { return filepath.Join(h.Root(), ContainerdSocket) }

// HostContainerdSocket is the same socket by way of the host's init, which
// keeps the path short.
func HostContainerdSocket(init int) string {
	return filepath.Join("/proc", strconv.Itoa(init), "root", ContainerdSocket)
}

// OwnFolders are the folders that every host has for itself.
var OwnFolders = [...]string{"/run", "/var/lib", "/var/log"}
