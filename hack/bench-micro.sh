#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Runs the packages' own benchmarks, several times each, and writes what they
# print to a file. With a file of an earlier run, shows how the two compare.
#
#   BENCH_OUT=FILE   where the figures go, bin/bench-micro.txt by default
#   BENCH_BASE=FILE  an earlier run's figures
#   BENCH_RUN=REGEX  narrows the benchmarks, as -bench does
#   BENCH_COUNT=6    how often each runs

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

out="${BENCH_OUT:-bin/bench-micro.txt}"
mkdir -p "$(dirname "${out}")"
# One package at a time, so that they do not measure each other.
go test -p 1 -run='^$' -bench="${BENCH_RUN:-.}" -count="${BENCH_COUNT:-6}" -timeout=60m \
  ./pkg/claims ./pkg/claimstatus ./pkg/inventory ./pkg/podstatus | tee "${out}"
if [[ -n "${BENCH_BASE:-}" ]]; then
  go tool -modfile=hack/tools/go.mod benchstat "${BENCH_BASE}" "${out}"
fi
