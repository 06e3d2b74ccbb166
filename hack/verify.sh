#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs every hack/verify-*.sh, and fails at the end if one of them failed.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

failed=()
for script in hack/verify-*.sh; do
  start="${SECONDS}"
  echo "--- ${script}"
  if "${script}"; then
    echo "ok   ${script} ($((SECONDS - start)) s)"
  else
    echo "FAIL ${script} ($((SECONDS - start)) s)"
    failed+=("${script}")
  fi
done

if ((${#failed[@]} > 0)); then
  echo "failed: ${failed[*]}" >&2
  exit 1
fi
