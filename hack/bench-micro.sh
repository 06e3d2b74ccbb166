#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the packages' benchmarks several times and writes the results to a file. With
# the file of an earlier run it compares the two.
#
#   BENCH_OUT=FILE   file for the results, bin/bench-micro.txt by default
#   BENCH_BASE=FILE  results of an earlier run
#   BENCH_RUN=REGEX  selects benchmarks, as -bench does
#   BENCH_COUNT=6    runs of each benchmark

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

out="${BENCH_OUT:-bin/bench-micro.txt}"
mkdir -p "$(dirname "${out}")"
# One package at a time, so that packages do not disturb each other.
go test -p 1 -run='^$' -bench="${BENCH_RUN:-.}" -count="${BENCH_COUNT:-6}" -timeout=60m \
  ./pkg/claims ./pkg/claimstatus ./pkg/inventory ./pkg/podstatus | tee "${out}"
if [[ -n "${BENCH_BASE:-}" ]]; then
  go tool -modfile=hack/tools/go.mod benchstat "${BENCH_BASE}" "${out}"
fi
