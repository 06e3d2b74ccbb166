#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Plays random histories with new seeds, and in parallel kills the real daemon under load,
# for SOAK (30m, 90s, 8h) or until a failure. A failure is printed with the command that
# repeats it. A run in progress at the end is finished, which takes up to two minutes.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root="${PWD}"

span="${SOAK:-30m}"
if [[ ! "${span}" =~ ^([1-9][0-9]{0,5})([smh])$ ]]; then
  echo "SOAK=${span}: want a number of seconds, minutes or hours, such as 90s, 30m or 8h" >&2
  exit 2
fi
declare -A unit=([s]=1 [m]=60 [h]=3600)
seconds=$((BASH_REMATCH[1] * unit[${BASH_REMATCH[2]}]))

work="$(mktemp -d)"
# Job control gives each of the two its own process group, so that it can be ended.
set -o monitor
running=()
finish() {
  for group in "${running[@]}"; do
    kill -- "-${group}" 2>/dev/null || true
  done
  wait || true
  rm -rf "${work}"
}
trap finish EXIT

go test -c -o "${work}/sim.test" ./test/sim
go test -c -o "${work}/crash.test" ./test/crash
export TMPDIR="${work}"
SECONDS=0
seed="$(date +%s)"

play() {
  local count=0
  cd "${root}/test/sim"
  while ((SECONDS < seconds)); do
    "${work}/sim.test" -test.run='^Test(Replica)?Histories$' -test.timeout=1h -first="$((seed + count))" -histories=500
    count=$((count + 500))
    echo "after ${SECONDS} s: ${count} histories of 100 steps, and a quarter as many with replicas, no failure"
  done
}

crash() {
  local count=0
  cd "${root}/test/crash"
  while ((SECONDS < seconds)); do
    "${work}/crash.test" -test.timeout=1h -binary="${root}/bin/vk-sandbox" -seed="$((seed + count))" -rounds=100
    count=$((count + 100))
    echo "after ${SECONDS} s: ${count} kills, no failure"
  done
}

play &
running+=("$!")
crash &
running+=("$!")
for _ in "${running[@]}"; do
  wait -n
done
