// Copyright The vk-sandbox Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build conformance

// Package agentsandbox keeps what the tests below need in go.mod and go.sum. It is not
// compiled: hack/conformance.sh compiles the tests themselves.
package agentsandbox

import (
	_ "sigs.k8s.io/agent-sandbox/test/e2e"
	_ "sigs.k8s.io/agent-sandbox/test/e2e/extensions"
)
