#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails unless update-codegen.sh reproduces the generated files exactly, git tracks all of
# them, and none contains a path of the machine that generated it. It generates in a copy
# and does not change the tree.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
cd "${root}"
export GOBIN="${GOBIN:-${root}/bin/codegen}"

paths=(pkg/apis pkg/generated charts/vk-sandbox/files/crds docs/configuration.md docs/metrics.md)
failed=""

copy="$(mktemp -d)"
trap 'rm -rf "${copy}"' EXIT
git ls-files -z --cached --others --exclude-standard |
  while IFS= read -r -d '' file; do
    if [[ -e "${file}" ]]; then printf '%s\0' "${file}"; fi
  done |
  tar --create --null --files-from=- | tar --extract --directory="${copy}"

"${copy}/hack/update-codegen.sh"

for path in "${paths[@]}"; do
  diff --unified --recursive --new-file "${path}" "${copy}/${path}" || failed="yes"
done
if [[ -n "${failed}" ]]; then
  echo "generated files are out of date (shown above): run hack/update-codegen.sh" >&2
fi

untracked="$(git ls-files --others -- "${paths[@]}")"
if [[ -n "${untracked}" ]]; then
  printf 'files that git does not know: add or remove them\n%s\n' "${untracked}" >&2
  failed="yes"
fi

for path in "${root}" "${copy}" "${HOME}" "$(go env GOMODCACHE)"; do
  if [[ "${path}" != "/" ]] && grep --recursive --line-number --fixed-strings "${path}/" "${paths[@]}"; then
    echo "generated files contain a path of this machine (shown above)" >&2
    failed="yes"
  fi
done

[[ -z "${failed}" ]]
