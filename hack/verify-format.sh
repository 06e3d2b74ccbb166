#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if a Go file is not formatted, or a shell script does not parse.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""

mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.go')
unformatted="$(gofmt -s -l "${files[@]}")"
if [[ -n "${unformatted}" ]]; then
  printf 'not formatted; run gofmt -s -w on them:\n%s\n' "${unformatted}" >&2
  failed="yes"
fi

mapfile -t scripts < <(git ls-files --cached --others --exclude-standard -- '*.sh' .ci/run)
for script in "${scripts[@]}"; do
  bash -n "${script}" || failed="yes"
done

[[ -z "${failed}" ]]
