#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if a file names a path of the machine that it was written on.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""
# check looks for a pattern; finding nothing is an exit code of 1.
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
  # The home of root by itself is a name that texts may use.
  if [[ "${path}" != / && "${path}" != /root ]]; then
    check --fixed-strings -e "${path}/"
  fi
done

if [[ -n "${failed}" ]]; then
  echo "files name a path of a machine (shown above)" >&2
fi
[[ -z "${failed}" ]]
