// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"path/filepath"
	"strconv"
	"strings"
)

// paths are the files and folders of a cluster, under its state folder.
type paths struct{ state string }

func (p paths) lock() string               { return filepath.Join(p.state, "lock") }
func (p paths) kubeconfig() string         { return filepath.Join(p.state, "kubeconfig") }
func (p paths) bin() string                { return filepath.Join(p.state, "bin") }
func (p paths) logs() string               { return filepath.Join(p.state, "logs") }
func (p paths) records() string            { return filepath.Join(p.state, "processes") }
func (p paths) restore() string            { return filepath.Join(p.state, "restore") }
func (p paths) auditLog() string           { return filepath.Join(p.state, "audit", "audit.log") }
func (p paths) etcd() string               { return filepath.Join(p.state, "etcd") }
func (p paths) images() string             { return filepath.Join(p.state, "images") }
func (p paths) config(name string) string  { return filepath.Join(p.state, "config", name) }
func (p paths) cert(name string) string    { return filepath.Join(p.state, "pki", name+".crt") }
func (p paths) key(name string) string     { return filepath.Join(p.state, "pki", name+".key") }
func (p paths) host(name string) hostPaths { return hostPaths{filepath.Join(p.state, "hosts", name)} }

// client is where a program for users is found.
func (p paths) client(name string) string { return filepath.Join(p.bin(), name) }

// log is the log of a component; those of a host are named HOST.COMPONENT, and
// have a folder of their own.
func (p paths) log(component string) string {
	if host, name, found := strings.Cut(component, "."); found {
		return filepath.Join(p.hostLogs(host), name+".log")
	}
	return filepath.Join(p.logs(), component+".log")
}

func (p paths) hostLogs(host string) string { return filepath.Join(p.logs(), host) }

// removable are the paths that "down" deletes. It keeps the logs, for whoever
// wants to know what happened, and the lock, which it holds.
func (p paths) removable() []string {
	list := []string{p.kubeconfig(), p.bin(), p.records(), p.restore(), p.etcd(), p.images()}
	for _, name := range []string{"audit", "config", "pki", "hosts"} {
		list = append(list, filepath.Join(p.state, name))
	}
	return list
}

// hostPaths are the files and folders of one host.
type hostPaths struct{ dir string }

// root holds what the host sees in place of the machine's own folders.
func (h hostPaths) root() string           { return filepath.Join(h.dir, "root") }
func (h hostPaths) config(n string) string { return filepath.Join(h.dir, "config", n) }
func (h hostPaths) sandboxd() string       { return filepath.Join(h.dir, "sandboxd") }
func (h hostPaths) sandboxdToken() string  { return filepath.Join(h.dir, "sandboxd", "token") }

// imported notes that the host's containerd has an image archive.
func (h hostPaths) imported(archive string) string {
	return filepath.Join(h.dir, "imported", filepath.Base(archive))
}

// containerdSocket is the socket as the machine sees it. The path can be too
// long to connect to.
func (h hostPaths) containerdSocket() string { return filepath.Join(h.root(), containerdSocket) }

// hostContainerdSocket is the same socket by way of the host's init, which
// keeps the path short.
func hostContainerdSocket(init int) string {
	return filepath.Join("/proc", strconv.Itoa(init), "root", containerdSocket)
}

// ownFolders are the folders that every host has for itself.
var ownFolders = [...]string{"/run", "/var/lib", "/var/log"}
