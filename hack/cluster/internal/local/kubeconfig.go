// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package local

import (
	"encoding/json"
	"os"

	"github.com/cocoonstack/vk-sandbox/hack/cluster/internal/cluster"
)

type object = map[string]any

// writeKubeconfig writes a kubeconfig that logs in with a certificate. It holds
// everything, so that it can be copied.
func writeKubeconfig(p paths, file, server, cert string) error {
	var data [3][]byte
	for i, name := range []string{p.cert(clusterCA), p.cert(cert), p.key(cert)} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		data[i] = content
	}
	const name = "vk-sandbox"
	return writeJSON(file, object{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": data[0]}}},
		"users":    []object{{"name": cert, "user": object{"client-certificate-data": data[1], "client-key-data": data[2]}}},
		"contexts": []object{{"name": name, "context": object{"cluster": name, "user": cert}}},
	})
}

// writeJSON writes a private configuration file. JSON is YAML, too.
func writeJSON(file string, content object) error {
	encoded, err := json.MarshalIndent(content, "", "  ")
	if err != nil {
		return err
	}
	return cluster.WriteFile(file, append(encoded, '\n'), 0o600)
}
