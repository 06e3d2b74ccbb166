#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# gotestsum runs this after the tests, with their counts in the environment.

set -o errexit -o nounset -o pipefail

if [[ -n "${FAIL_ON_SKIP:-}" && "${TESTS_SKIPPED}" != 0 ]]; then
  echo "${TESTS_SKIPPED} test(s) skipped (listed above), and FAIL_ON_SKIP is set" >&2
  exit 1
fi
