#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Plays random histories with seeds that nobody has played yet, and kills the
# real daemon under load, side by side, until SOAK has passed (30m, 90s, 8h) or
# something is wrong. What is wrong is printed with what repeats it. A run that
# has begun when the time is over is finished, which takes up to two minutes.

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
# Job control gives each of the two a process group, so that all of it can be ended.
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
    "${work}/sim.test" -test.run='^TestHistories$' -test.timeout=1h -first="$((seed + count))" -histories=500
    count=$((count + 500))
    echo "after ${SECONDS} s: ${count} histories of 100 steps, nothing wrong"
  done
}

crash() {
  local count=0
  cd "${root}/test/crash"
  while ((SECONDS < seconds)); do
    "${work}/crash.test" -test.timeout=1h -binary="${root}/bin/vk-sandbox" -seed="$((seed + count))" -rounds=100
    count=$((count + 100))
    echo "after ${SECONDS} s: ${count} kills, nothing wrong"
  done
}

play &
running+=("$!")
crash &
running+=("$!")
for _ in "${running[@]}"; do
  wait -n
done
