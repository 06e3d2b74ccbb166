#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs "go test" in the current module with the given arguments. At the end it lists the
# failed and the skipped tests. With FAIL_ON_SKIP=1 a skipped test is a failure.

set -o errexit -o nounset -o pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

export FAIL_ON_SKIP="${FAIL_ON_SKIP:-}"
exec go tool -modfile="${root}/hack/tools/go.mod" gotestsum \
  --format=standard-quiet \
  --post-run-command="${root}/hack/fail-on-skip.sh" \
  -- "$@"
