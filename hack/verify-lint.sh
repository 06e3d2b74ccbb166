#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the linters of .golangci.yaml on every module that has packages. Go builds the
# linter from its module once and caches it.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "${root}"

lint() {
  go tool -modfile="${root}/hack/lint/go.mod" golangci-lint run --config="${root}/.golangci.yaml" --timeout=20m "$@"
}

failed=""
lint --build-tags=e2e ./... || failed="yes"
(cd hack/cluster && lint ./...) || failed="yes"

[[ -z "${failed}" ]]
