// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package binaries builds the programs of a cluster from their Go modules, and
// keeps them in the user's cache folder.
package binaries

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// Binary is one program.
type Binary struct {
	// Name is the file name of the program.
	Name string
	// pkg is the import path of the program's main package.
	pkg string
	// folder is the module to build in, relative to the source folder.
	folder string
	// module is the module whose required version is the program's version;
	// empty for a program of this repository.
	module string
	// variables returns the linker's -X settings for a version.
	variables func(version string) []string
}

// Kubernetes are the programs of a control plane and of a host, in the order
// that spreads the work of compiling most evenly.
func Kubernetes() []Binary {
	list := []Binary{{Name: "etcd", pkg: "go.etcd.io/etcd/server/v3", folder: "kubernetes", module: "go.etcd.io/etcd/server/v3"}}
	for _, name := range []string{"kube-apiserver", "kube-scheduler", "kube-proxy", "kubelet", "kube-controller-manager"} {
		list = append(list, kubernetes(name))
	}
	return append(list, Binary{Name: "pause", pkg: "./pause", folder: "."})
}

// Clients are the programs that a person or a test uses with a cluster.
func Clients() []Binary {
	return []Binary{kubernetes("kubectl"), {
		Name: "helm", pkg: "helm.sh/helm/v3/cmd/helm", folder: "helm", module: "helm.sh/helm/v3",
		variables: func(version string) []string {
			return []string{"helm.sh/helm/v3/internal/version.version=" + version}
		},
	}}
}

func kubernetes(name string) Binary {
	return Binary{
		Name: name, pkg: kubernetesModule + "/cmd/" + name, folder: "kubernetes", module: kubernetesModule,
		variables: kubernetesVariables,
	}
}

const kubernetesModule = "k8s.io/kubernetes"

// kubernetesVariables sets what the Kubernetes programs report as their
// version; without it they report v0.0.0.
func kubernetesVariables(version string) []string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	var settings []string
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		settings = append(settings,
			pkg+".gitVersion="+version, pkg+".gitMajor="+parts[0], pkg+".gitMinor="+parts[1], pkg+".gitTreeState=clean")
	}
	return settings
}

// KubernetesVersion returns the version of Kubernetes that the module file in
// the source folder requires.
func KubernetesVersion(source string) (string, error) {
	return requiredVersion(filepath.Join(source, "kubernetes"), kubernetesModule)
}

// requiredVersion returns the version of a module that the go.mod file in
// folder requires.
func requiredVersion(folder, module string) (string, error) {
	file := filepath.Join(folder, "go.mod")
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	parsed, err := modfile.ParseLax(file, content, nil)
	if err != nil {
		return "", err
	}
	for _, r := range parsed.Require {
		if r.Mod.Path == module {
			return r.Mod.Version, nil
		}
	}
	return "", fmt.Errorf("%s requires no %s", file, module)
}
