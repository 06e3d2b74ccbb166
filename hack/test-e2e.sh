#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the end-to-end tests: starts a cluster, runs the tests, and always ends the
# cluster. With KEEP_CLUSTER=1 it uses a running cluster, or starts one, and keeps it.
# HOSTS is the number of hosts, 2 by default. E2E_RUN selects tests, as -run does.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The tests run in their own folder.
state="$(realpath --canonicalize-missing "${VK_SANDBOX_CLUSTER_DIR:-.cluster}")"
export VK_SANDBOX_CLUSTER_DIR="${state}"

echo "--- end-to-end tests"
if [[ "${CLUSTER:-local}" != kind ]] && [[ "$(uname -s)" != Linux || "$(id -u)" != 0 ]]; then
  echo "SKIPPED: the end-to-end tests; the cluster they run on needs root on Linux (or CLUSTER=kind)"
  [[ -z "${FAIL_ON_SKIP:-}" ]]
  exit
fi
if [[ -z "${KEEP_CLUSTER:-}" && -e "${state}/cluster.json" ]]; then
  echo "a cluster is up already: end it with \"make cluster-down\", or use and keep it with KEEP_CLUSTER=1" >&2
  exit 1
fi

down() {
  local code=$?
  trap - EXIT
  if [[ -n "${KEEP_CLUSTER:-}" ]]; then
    echo "the cluster is still up (KEEP_CLUSTER is set); end it with \"make cluster-down\""
    exit "${code}"
  fi
  if ((code != 0)); then
    bin/cluster status || true
    if [[ -d "${state}/logs" ]]; then
      echo "the logs of the cluster's components are kept in ${state}/logs"
    fi
  fi
  bin/cluster down || code=1
  exit "${code}"
}
trap down EXIT

HOSTS="${HOSTS:-2}" hack/cluster-up.sh
E2E_IMAGE="$(hack/load-image.sh)"
export E2E_IMAGE
# One package at a time, because each installs a release of the chart.
hack/go-test.sh -tags=e2e -count=1 -timeout=45m -p=1 -parallel=8 ${E2E_RUN:+-run="${E2E_RUN}"} ./test/e2e/... ./test/docs/walk
if [[ -z "${E2E_RUN:-}" ]]; then
  KEEP_CLUSTER=1 hack/conformance.sh
fi
# The bench needs the cluster's audit log.
if [[ -z "${E2E_RUN:-}" && "${CLUSTER:-local}" != kind ]]; then
  echo "--- bench, once and small"
  KEEP_CLUSTER=1 hack/bench.sh --smoke
fi
