#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs go vet on every module that has packages, including the end-to-end tests.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

go vet -tags=e2e ./...
go -C hack/cluster vet ./...
