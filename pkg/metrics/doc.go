// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics is what the daemon counts and measures, for Prometheus.
//
// Names begin with vk_sandbox_, and stability levels, suffixes and units are
// those of Kubernetes' own components. Every label has a fixed set of values
// that this program chooses. No label and no value has a token, the name of a
// Pod, or text from elsewhere (DESIGN rule 8), and the number of time series
// does not grow with the number of claims.
//
// What happens is counted by decorators around the interfaces of pkg/provider:
// [Metrics.Sandboxd], [Metrics.Owners], [Metrics.Pods]. What is the case is
// read when it is asked for: [Metrics.WatchTable], [Metrics.WatchProvider],
// [Metrics.WatchQueues]. [Metrics.Families] describes them all, and docs/metrics.md
// is generated from it.
package metrics
