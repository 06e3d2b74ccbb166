#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the tests of every module with the race detector, except the chart, end-to-end,
# crash and packaging tests.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "${root}"

hack/c-compiler.sh
export CGO_ENABLED=1

failed=""
mapfile -t packages < <(go list ./... | grep -v -e '/test/chart$' -e '/test/crash$' -e '/test/packaging$')
echo "--- unit tests"
hack/go-test.sh -race -timeout=40m "${packages[@]}" || failed="yes"
echo "--- unit tests of the cluster program"
(cd hack/cluster && "${root}/hack/go-test.sh" -race -timeout=5m ./...) || failed="yes"

[[ -z "${failed}" ]]
