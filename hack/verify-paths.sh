#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if a file contains a path of the machine that it was written on.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""
# check searches for a pattern. Exit code 1 means that there is no match.
check() {
  local code=0
  git grep --untracked --line-number -I "$@" -- ':!hack/verify-paths.sh' || code=$?
  if ((code > 1)); then
    exit "${code}"
  fi
  if ((code == 0)); then
    failed="yes"
  fi
}

check --extended-regexp -e '/(home|Users)/[A-Za-z0-9_.-]+/'
for path in "${PWD}" "${HOME}" "$(go env GOMODCACHE)" "$(go env GOCACHE)"; do
  # Texts may use the home of root without a path below it.
  if [[ "${path}" != / && "${path}" != /root ]]; then
    check --fixed-strings -e "${path}/"
  fi
done

if [[ -n "${failed}" ]]; then
  echo "files contain a path of a machine (shown above)" >&2
fi
[[ -z "${failed}" ]]
