#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if "go mod tidy" would change a go.mod or go.sum.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""
mapfile -t modules < <(git ls-files --cached --others --exclude-standard -- go.mod '*/go.mod')
for module in "${modules[@]}"; do
  folder="$(dirname "${module}")"
  if ! go -C "${folder}" mod tidy -diff; then
    echo "${module} is not tidy (shown above): run go -C ${folder} mod tidy" >&2
    failed="yes"
  fi
done

[[ -z "${failed}" ]]
