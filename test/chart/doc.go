// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart tests the Helm chart as Helm renders it. Values are coalesced and checked
// against the schema, and templates run in Helm's engine. Every object is decoded
// strictly into its Kubernetes type, so that a misspelt field fails here and not on a
// cluster.
package chart
