#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if a source file lacks the two licence lines near its top.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- \
  '*.go' '*.sh' '*.tpl' '*.yaml' '*.yml' Makefile .ci/run \
  ':!charts/vk-sandbox/files/crds' ':!**/testdata/**')

failed=""
for file in "${files[@]}"; do
  # Scripts start with the interpreter line, some generated files with a build tag.
  top="$(head -n 8 "${file}")"
  if [[ "${top}" != *"Copyright The vk-sandbox Authors."*"SPDX-License-Identifier: Apache-2.0"* ]]; then
    echo "no licence header: ${file}" >&2
    failed="yes"
  fi
done

[[ -z "${failed}" ]]
