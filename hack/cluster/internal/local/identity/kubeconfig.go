// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package identity

import (
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/local/layout"
)

// Object is a JSON object.
type Object = map[string]any

// WriteKubeconfig writes a kubeconfig that logs in with a certificate. It holds
// everything, so that it can be copied.
func WriteKubeconfig(p layout.Paths, file, server, cert string) error {
	var data [3][]byte
	for i, name := range []string{p.Cert(ClusterCA), p.Cert(cert), p.Key(cert)} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[i] = content
	}
	const name = "vk-sandbox"
	return WriteJSON(file, Object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []Object{{"name": name, "cluster": Object{"server": server, "certificate-authority-data": data[0]}}},
		"users":    []Object{{"name": cert, "user": Object{"client-certificate-data": data[1], "client-key-data": data[2]}}},
		"contexts": []Object{{"name": name, "context": Object{"cluster": name, "user": cert}}},
	})
}

// WriteJSON writes a private configuration file. JSON is YAML, too.
func WriteJSON(file string, content Object) error {
	return cluster.WriteJSON(file, content, 0o600)
}
