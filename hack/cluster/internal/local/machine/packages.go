// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// needs are the programs of the machine that the cluster uses, with the Debian
// package that has each.
var needs = []struct{ program, pkg string }{
	{"ip", "iproute2"},
	{"iptables", "iptables"},
	{"runc", "runc"},
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{cniPlugin, "containernetworking-plugins"},
}

const (
	cniPlugin  = "ptp"
	policyFile = "/usr/sbin/policy-rc.d"
	// policy keeps package scripts from starting services.
	policy = "#!/bin/sh\nexit 101\n"
)

// cniFolders are where CNI plugins are installed.
var cniFolders = []string{"/usr/lib/cni", "/opt/cni/bin"}

// CniFolder returns the folder with the CNI plugins.
func CniFolder() (string, error) {
	for _, folder := range cniFolders {
		if _, err := os.Stat(filepath.Join(folder, cniPlugin)); err == nil {
			return folder, nil
		}
	}
	return "", fmt.Errorf("no CNI plugin %s in %s", cniPlugin, strings.Join(cniFolders, " or "))
}

// MissingPackages returns the packages that must be installed.
func MissingPackages() []string {
	var missing []string
	seen := map[string]bool{}
	for _, n := range needs {
		var err error
		if n.program == cniPlugin {
			_, err = CniFolder()
		} else {
			_, err = exec.LookPath(n.program)
		}
		if err != nil && !seen[n.pkg] {
			seen[n.pkg] = true
			missing = append(missing, n.pkg)
		}
	}
	return missing
}

// InstallPackages installs Debian packages without starting their services.
func InstallPackages(ctx context.Context, packages []string) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine lacks what Debian has in the packages %s, and has no apt-get to install them; install them first",
			strings.Join(packages, ", "))
	}
	restore, err := forbidServices()
	if err != nil {
		return err
	}
	installErr := aptGet(ctx, "update", "-qq")
	if installErr == nil {
		installErr = aptGet(ctx, append([]string{"install", "-qq", "-y", "--no-install-recommends"}, packages...)...)
	}
	if err := errors.Join(installErr, restore()); err != nil {
		return fmt.Errorf("install the packages %s: %w", strings.Join(packages, ", "), err)
	}
	if missing := MissingPackages(); len(missing) > 0 {
		return fmt.Errorf("after installing them, the packages %s still lack a program", strings.Join(missing, ", "))
	}
	return nil
}

func aptGet(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("apt-get %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

// forbidServices keeps packages from starting services until restore is called.
// A policy that the machine has is left alone.
func forbidServices() (restore func() error, err error) {
	f, err := os.OpenFile(policyFile, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(policy)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(policyFile))
	}
	return func() error { return os.Remove(policyFile) }, nil
}
