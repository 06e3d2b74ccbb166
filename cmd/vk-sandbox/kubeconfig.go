// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kubeConfig returns how to reach the API server: the in-cluster configuration,
// or where there is none the kubeconfig at $KUBECONFIG (configuration). The API
// server's logs have the program under its name there.
func kubeConfig(program string, getenv func(string) string) (*rest.Config, error) {
	config, err := rest.InClusterConfig()
	if err != nil {
		path := getenv("KUBECONFIG")
		if path == "" {
			return nil, fmt.Errorf("find the Kubernetes API: no in-cluster configuration (%w) and KUBECONFIG is not set; run in a Pod with a service account, or set KUBECONFIG", err)
		}
		loaded, fileErr := clientcmd.BuildConfigFromFlags("", path)
		if fileErr != nil {
			return nil, fmt.Errorf("load the kubeconfig at KUBECONFIG: %w", errors.Join(fileErr, err))
		}
		config = loaded
	}
	config.UserAgent = program + "/" + buildVersion()
	return config, nil
}
