// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package process starts the programs of the local cluster, keeps a record of each, watches their health and ends them.
package process
