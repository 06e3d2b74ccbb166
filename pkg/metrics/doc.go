// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics registers the daemon's metrics for Prometheus. It knows none of
// them: each package defines what it measures, beside what it measures, with the
// [Registry] that it is given.
//
// Names begin with vk_sandbox_, and stability levels, suffixes and units are
// those of Kubernetes' own components. Every label has a fixed set of values
// that this program chooses. No label and no value has a token, the name of a
// Pod, or text from elsewhere, and the number of time series does not grow with the
// number of claims.
//
// Events are counted by the package that they happen in, or by decorators around
// it, and counters start at zero. States are read at each scrape, by the function
// that is passed to [Registry.Collect]. [Registry.Families] describes all metrics,
// and docs/metrics.md is generated from it.
package metrics
