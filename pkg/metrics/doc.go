// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package metrics registers the daemon's metrics for Prometheus. It defines none of them:
// each package defines its metrics beside the measured code, with the [Registry] that it
// is given.
//
// Names begin with vk_sandbox_; stability levels, suffixes and units are those of
// Kubernetes' own components. Every label has a fixed set of values chosen by this
// program. No label or value contains a token, the name of a Pod, or remote text, and the
// number of time series does not grow with the number of claims.
//
// Events are counted by the package in which they happen, or by decorators around it, and
// counters start at zero. States are read at each scrape, by the function passed to
// [Registry.Collect]. [Registry.Families] describes all metrics; docs/metrics.md is
// generated from it.
package metrics
