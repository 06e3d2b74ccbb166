#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails if actionlint reports an error in a workflow, or if a workflow uses an action that
# is not pinned to a commit.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=""
go tool -modfile=hack/actionlint/go.mod actionlint -shellcheck= -pyflakes= .github/workflows/*.yaml || failed="yes"
if grep --line-number --extended-regexp 'uses:' .github/workflows/*.yaml |
  grep --invert-match --extended-regexp 'uses: [^@]+@[0-9a-f]{40} # v[0-9.]+$'; then
  echo "an action is not pinned to a commit with its version behind it (shown above)" >&2
  failed="yes"
fi

[[ -z "${failed}" ]]
