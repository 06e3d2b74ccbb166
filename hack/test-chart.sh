#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Renders the chart as Helm does and checks the result.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "--- chart tests"
hack/go-test.sh -timeout=10m ./test/chart/...
