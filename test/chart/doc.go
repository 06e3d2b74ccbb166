// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package chart tests the Helm chart as Helm itself would render it: values are
// coalesced and checked against the schema, templates run through Helm's
// engine, and every object is decoded strictly into its Kubernetes type, so that a
// misspelt or misplaced field fails here and not on a cluster.
package chart
