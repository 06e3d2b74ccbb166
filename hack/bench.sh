#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Measures the daemon and KWOK, and compares them with the targets. It starts and ends
# a cluster of one host. With KEEP_CLUSTER=1 it uses a running cluster, or starts one,
# and keeps it. With --smoke it only checks that every measurement works.
#
#   BENCH_PODS=1000      Pods of the large burst; every other count follows
#   BENCH_ROUNDS=3       rounds; the table has their medians
#   BENCH_DAEMONS=100    daemons that start within one second
#   BENCH_REST=60s       how long the idle daemon is measured
#   BENCH_ONLY=LIST      what is measured, of: bursts,claims,budget,loaded,burst-scaling,fleet,table
#   BENCH_OUT=FILE       the JSON file, bin/bench.json by default
#   BENCH_LOGS=FOLDER    keeps the logs of both subjects

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [[ "${1:-}" == --smoke ]]; then
  : "${BENCH_PODS:=50}" "${BENCH_ROUNDS:=1}" "${BENCH_DAEMONS:=5}" "${BENCH_REST:=3s}"
fi
if [[ "$(uname -s)" != Linux || "$(id -u)" != 0 ]]; then
  echo "the bench runs on the cluster of hack/cluster, which needs root on Linux" >&2
  exit 1
fi
state="$(realpath --canonicalize-missing "${VK_SANDBOX_CLUSTER_DIR:-.cluster}")"
export VK_SANDBOX_CLUSTER_DIR="${state}"
if [[ -z "${KEEP_CLUSTER:-}" && -e "${state}/cluster.json" ]]; then
  echo "a cluster is up already: end it with \"make cluster-down\", or use and keep it with KEEP_CLUSTER=1" >&2
  exit 1
fi

go build -C hack/kwok -ldflags='-s -w' -o ../../bin/kwok sigs.k8s.io/kwok/cmd/kwok
kwok="$(go list -C hack/kwok -m -f '{{.Dir}}' sigs.k8s.io/kwok)"
go build -o bin/bench ./test/bench

down() {
  local code=$?
  trap - EXIT
  if [[ -z "${KEEP_CLUSTER:-}" ]]; then
    bin/cluster down || code=1
  fi
  exit "${code}"
}
trap down EXIT

if [[ ! -e "${state}/cluster.json" ]]; then
  HOSTS=1 hack/cluster-up.sh
fi
bin/bench \
  --daemon=bin/vk-sandbox --kwok=bin/kwok --kwok-stages="${kwok}/kustomize/stage" \
  --pods="${BENCH_PODS:-1000}" --rounds="${BENCH_ROUNDS:-3}" \
  --daemons="${BENCH_DAEMONS:-100}" --rest="${BENCH_REST:-60s}" --only="${BENCH_ONLY:-}" \
  --out="${BENCH_OUT:-bin/bench.json}" --logs="${BENCH_LOGS:-}"
