// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cluster holds what is said about a running cluster, whatever runs it.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Info describes a running cluster to the programs that use it. All paths are
// absolute paths of the machine.
type Info struct {
	// Driver is what runs the cluster: "local" or "kind".
	Driver            string `json:"driver"`
	KubernetesVersion string `json:"kubernetesVersion"`
	APIServer         string `json:"apiServer"`
	Kubeconfig        string `json:"kubeconfig"`
	Kubectl           string `json:"kubectl"`
	Helm              string `json:"helm"`
	// AuditLog is the API server's record of what service accounts asked for;
	// empty where the driver keeps none.
	AuditLog string `json:"auditLog,omitempty"`
	// CIDR is the network that joins the hosts, and Bridge the interface that
	// carries it; both are empty where the driver does not make them.
	CIDR   string `json:"cidr,omitempty"`
	Bridge string `json:"bridge,omitempty"`
	Hosts  []Host `json:"hosts"`
}

// Host describes one host of a cluster.
type Host struct {
	// Name is the name of the host's Node.
	Name    string `json:"name"`
	IP      string `json:"ip"`
	PodCIDR string `json:"podCIDR,omitempty"`
	// Link is the interface that connects the host: "ip link set LINK down"
	// cuts it off, "up" connects it again.
	Link string `json:"link,omitempty"`
	// InitPID is the first process of the host's PID namespace. Its namespaces
	// are the host's; ending it ends the host with all that runs there.
	InitPID int `json:"initPID,omitempty"`
	// HostPathRoot holds the host's own /var/lib, /var/log and /run: a Pod's
	// hostPath /var/lib/x is HostPathRoot/var/lib/x.
	HostPathRoot     string `json:"hostPathRoot,omitempty"`
	ContainerdSocket string `json:"containerdSocket,omitempty"`
	Logs             string `json:"logs,omitempty"`
	// SandboxdAddr is what the host's sandboxd advertises as the owner address
	// of a claim. It and the two below are empty when no sandboxd was asked for.
	SandboxdAddr       string `json:"sandboxdAddr,omitempty"`
	SandboxdControlURL string `json:"sandboxdControlURL,omitempty"`
	SandboxdTokenFile  string `json:"sandboxdTokenFile,omitempty"`
}

// infoFile is the name of the file in a state folder that holds an Info.
const infoFile = "cluster.json"

// ErrNotUp reports that the state folder describes no cluster.
var ErrNotUp = errors.New(`no cluster is up here; start one with "cluster up"`)

// Load reads the Info in a state folder. The error is ErrNotUp if there is none.
func Load(dir string) (*Info, error) {
	info := &Info{}
	there, err := ReadJSON(filepath.Join(dir, infoFile), info)
	if err != nil {
		return nil, fmt.Errorf(`%w (run "cluster down", then "cluster up")`, err)
	}
	if !there {
		return nil, ErrNotUp
	}
	return info, nil
}

// CheckDriver reports whether the cluster in the state folder was started by
// another driver, which alone can end it. A state folder that describes no
// cluster is anyone's.
func CheckDriver(dir, driver string) error {
	info, err := Load(dir)
	if err != nil || info.Driver == driver {
		// What can not be read keeps nobody from clearing it away.
		return nil
	}
	return fmt.Errorf("the cluster in %s was started with CLUSTER=%s; set that again, to use it or to end it", dir, info.Driver)
}

// Save writes the Info into a state folder; a reader sees the old or the new
// one, never a part.
func (i *Info) Save(dir string) error {
	return WriteJSON(filepath.Join(dir, infoFile), i, 0o644)
}

// Remove deletes the Info from a state folder, if there is one.
func Remove(dir string) error {
	err := os.Remove(filepath.Join(dir, infoFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ReadJSON decodes a file, and reports whether there is one.
func ReadJSON(file string, into any) (there bool, err error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return false, fmt.Errorf("read %s: %w", file, err)
	}
	return true, nil
}

// WriteJSON writes a file as [WriteFile] does.
func WriteJSON(file string, value any, mode fs.FileMode) error {
	content, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(file, append(content, '\n'), mode)
}

// WriteFile writes a file in a folder, which it makes if need be, by way of a
// temporary file and a rename.
func WriteFile(file string, content []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}
