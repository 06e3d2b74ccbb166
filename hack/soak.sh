#!/usr/bin/env bash
# Copyright The vk-sandbox Authors.
# SPDX-License-Identifier: Apache-2.0

# Plays random histories with seeds that nobody has played yet, and kills the
# real daemon under load, in turn, until SOAK has passed (30m, 90s, 8h)
# or something is wrong. What is wrong is printed with what repeats it.

set -o errexit -o nounset -o pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

span="${SOAK:-30m}"
case "${span}" in
  *s) seconds="${span%s}" ;;
  *m) seconds="$((${span%m} * 60))" ;;
  *h) seconds="$((${span%h} * 3600))" ;;
  *)
    echo "SOAK=${span}: want a number of seconds, minutes or hours, such as 90s, 30m or 8h" >&2
    exit 2
    ;;
esac

work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
go test -c -o "${work}/sim.test" ./test/sim
go test -c -o "${work}/crash.test" ./test/crash

first="$(date +%s)"
histories=0
kills=0
while ((SECONDS < seconds)); do
  (cd test/sim && "${work}/sim.test" -test.run='^TestHistories$' -test.timeout=1h -first="${first}" -histories=500)
  first=$((first + 500))
  histories=$((histories + 500))
  (cd test/crash && "${work}/crash.test" -test.timeout=1h -binary="${PWD}/../../bin/vk-sandbox" -rounds=40)
  kills=$((kills + 40))
  echo "after $((SECONDS / 60)) min: ${histories} histories of 100 steps and ${kills} kills, nothing wrong"
done
