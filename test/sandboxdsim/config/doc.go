// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package config describes a simulated host: its tokens, warm pools, limits and timing. It holds values and their
// validation, no state.
package config
