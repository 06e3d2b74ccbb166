// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package identity makes the certificates and kubeconfigs of the local cluster.
package identity
