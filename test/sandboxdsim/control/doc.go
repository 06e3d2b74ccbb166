// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

// Package control is the control API of the simulator: a test injects faults, changes settings and reads what really
// happened. It has the handler and a [Client]; cmd/sandboxd-sim/README.md describes the API.
package control
